import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KnownSchema } from '../../lib/tools/known-schema.ts'

const SHARED = {
  ids: { $id: 'ids', const: 'of ids', definitions: { 'a/b c': { const: 'of a/b c' } } },
  params: { $id: 'params', properties: { id: { const: 'of params' } } },
  local: {
    $id: 'local',
    properties: { id: { $ref: '#/definitions/here' } },
    definitions: { here: { const: 'here' } },
  },
}

/** The constants that a schema of parameters says of the one that is called `id`. */
function constantsOf(params: object): unknown[] {
  const schemas = new KnownSchema(params, SHARED).ofProperty('id')
  return schemas
    .flatMap((schema) => [schema, ...schema.parts()])
    .map((schema) => schema.of('const'))
}

const id = (schema: object): object => ({ properties: { id: schema } })

/** A schema of parameters, and what it says of `id`. */
const SCHEMAS: readonly [what: string, params: object, constants: unknown[]][] = [
  ['itself', id({ const: 1 }), [1]],
  ['one that was added', id({ $ref: 'ids#' }), [undefined, 'of ids']],
  ['one that was added, without a hash', id({ $ref: 'ids' }), [undefined, 'of ids']],
  ['what stands beside the reference first', id({ $ref: 'ids', const: 1 }), [1, 'of ids']],
  [
    'a part of one that was added',
    id({ $ref: 'ids#/definitions/a~1b%20c' }),
    [undefined, 'of a/b c'],
  ],
  ['one of the same document', { ...id({ $ref: '#/x/0' }), x: [{ const: 2 }] }, [undefined, 2]],
  ['all parameters by one that was added', { $ref: 'params#' }, ['of params']],
  [
    'all parameters by a part',
    { allOf: [{ $ref: 'params#' }, id({ const: 3 })] },
    ['of params', 3],
  ],
  ['one of the document that the reference leads to', { $ref: 'local#' }, [undefined, 'here']],
]

for (const [what, params, constants] of SCHEMAS) {
  test(`a schema says ${what}`, () => {
    assert.deepEqual(constantsOf(params), constants)
  })
}

const UNKNOWN = [
  ...[
    'elsewhere#',
    'toString',
    '#anchor',
    '#/nowhere/at/all',
    '#/properties/id/$ref/x',
    'ids#/%E0%A4',
  ],
  7,
]

for (const $ref of UNKNOWN) {
  test(`a reference to ${$ref}, which is not known, says nothing`, () => {
    assert.deepEqual(constantsOf(id({ $ref })), [undefined])
  })
}

test('a schema that refers to itself is followed a few times', () => {
  assert.equal(constantsOf(id({ $ref: '#/properties/id' })).length, 2)
  const chain = new KnownSchema({ anyOf: [{ $ref: '#' }] })
  const depth = (schema: KnownSchema): number => 1 + Math.max(0, ...schema.parts().map(depth))
  assert.equal(depth(chain), 12)
})

test('what is no schema, or inherited, says nothing', () => {
  for (const schema of [undefined, null, true, [], Object.create({ $ref: 'ids' })]) {
    const known = new KnownSchema(schema, SHARED)
    assert.deepEqual(
      [known.parts(), known.ofProperty('id'), known.of('const')],
      [[], [], undefined],
    )
  }
})
