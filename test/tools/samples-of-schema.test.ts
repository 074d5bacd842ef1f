import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KnownSchema } from '../../lib/tools/known-schema.ts'
import { samplesOfSchema } from '../../lib/tools/samples-of-schema.ts'

/** A schema, and the best value for it. */
const BEST: readonly [schema: unknown, best: string][] = [
  [undefined, 'probe'],
  [{}, 'probe'],
  [{ const: 7 }, '7'],
  [{ enum: ['red', 'blue'] }, 'red'],
  [{ type: 'string', examples: ['A-1'], pattern: '^x$' }, 'A-1'],
  [{ type: 'string', example: 'A-2' }, 'A-2'],
  [{ type: 'string', default: 'main' }, 'main'],
  [{ type: 'string', pattern: '^[a-z]{2}\\d$' }, 'probe'],
  [{ type: 'string', pattern: '(a)\\1' }, 'probe'],
  [{ type: 'string', format: 'uuid' }, '7d444840-9dc0-4ad1-a2b1-5f2ab35a0e1f'],
  [{ type: 'string', format: 'date' }, '2030-01-31'],
  [{ type: 'string', format: 'of-our-own' }, 'probe'],
  [{ type: 'string', minLength: 8 }, 'probepro'],
  [{ type: 'string', maxLength: 2 }, 'pr'],
  [{ type: 'integer' }, '1'],
  [{ type: ['null', 'integer'], minimum: 18 }, '18'],
  [{ type: 'number', exclusiveMinimum: 4 }, '5'],
  [{ type: 'integer', minimum: 7, multipleOf: 5 }, '10'],
  [{ type: 'boolean' }, 'true'],
  [{ anyOf: [{ type: 'null' }, { const: 'a' }], default: { not: 'a scalar' } }, 'probe'],
  [{ oneOf: [{ const: 'a' }, { const: 'b' }] }, 'a'],
]

test('a parameter is filled as its schema says', () => {
  assert.deepEqual(
    BEST.map(([schema]) => [schema, samplesOfSchema(new KnownSchema(schema))[0]]),
    BEST,
  )
})

test('what a schema inherits says nothing', () => {
  assert.deepEqual(samplesOfSchema(new KnownSchema(Object.create({ const: 'inherited' }))), [
    'probe',
  ])
})
