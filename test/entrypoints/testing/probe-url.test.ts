import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fillPath, samplesOf } from '../../../lib/entrypoints/testing/probe-url.ts'
import { bareApp } from '../../helpers/app/guarded-app.ts'
import { LOOSE, PATTERNS } from '../../helpers/app/router-patterns.ts'

/** A sample that fits each expression of the patterns. */
const samples = ['probe', '42', 'a', ')']

for (const routerOptions of [{}, LOOSE]) {
  test(`the router finds each filled path, with ${JSON.stringify(routerOptions)}`, async (t) => {
    for (const pattern of PATTERNS) {
      const app = bareApp(t, { routerOptions })
      app.get(pattern, async (request) => request.routeOptions.url)
      const filled = fillPath(pattern, () => samples)
      assert.ok(typeof filled === 'object', `${pattern}: ${filled}`)
      const { body } = await app.inject(filled.path)
      assert.equal(body, pattern, filled.path)
    }
  })
}

test('a sample is taken if the expression of its parameter fits', () => {
  const filled = fillPath('/:id(^\\d+$)/:kind', (name) =>
    name === 'id' ? ['x', '42'] : ['', 'a/b'],
  )
  assert.ok(typeof filled === 'object', `${filled}`)
  assert.equal(filled.path, '/42/a%2Fb')
  assert.deepEqual(
    [...filled.values],
    [
      ['id', '42'],
      ['kind', 'a/b'],
    ],
  )
})

test('where no sample fits, the parameter is named', () => {
  const found = fillPath('/:tenant(^[a-z]+$)', () => ['A'])
  assert.equal(found, 'tenant')
  const shown = fillPath('/x/:id((a)\\1)', () => ['probe'])
  assert.equal(shown, 'id')
})

/** A schema of a parameter, and the best value for it. */
const BEST: readonly [schema: unknown, best: string][] = [
  [undefined, 'probe'],
  [{ type: 'string', pattern: '^[a-z]{2}\\d$' }, 'probe'],
  [{ const: 7 }, '7'],
  [{ enum: ['red', 'blue'] }, 'red'],
  [{ type: 'string', examples: ['A-1'], pattern: '^x$' }, 'A-1'],
  [{ type: 'string', default: 'main' }, 'main'],
  [{ type: 'string', default: { not: 'a scalar' } }, 'probe'],
  [{ type: 'string', format: 'uuid' }, '7d444840-9dc0-4ad1-a2b1-5f2ab35a0e1f'],
  [{ type: 'string', format: 'of-our-own' }, 'probe'],
  [{ type: ['null', 'integer'] }, '1'],
  [{ type: 'boolean' }, 'true'],
  [Object.create({ const: 'inherited' }), 'probe'],
]

test('a parameter is filled as its schema says', () => {
  const found = BEST.map(([id]) => [id, samplesOf({ properties: { id } }, 'id')[0]])
  assert.deepEqual(found, BEST)
  for (const schema of [undefined, 'x', {}, { properties: [] }]) {
    assert.deepEqual(samplesOf(schema, 'id'), ['probe'])
  }
})
