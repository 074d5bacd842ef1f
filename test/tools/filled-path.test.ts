import assert from 'node:assert/strict'
import { test } from 'node:test'
import Fastify from 'fastify'
import { fillPath } from '../../lib/tools/filled-path.ts'
import { LOOSE, PATTERNS } from '../helpers/app/router-patterns.ts'

/** A sample that fits each expression of the patterns. */
const samples = ['probe', '42', 'a', ')']

for (const routerOptions of [{}, LOOSE]) {
  test(`the router finds each filled path, with ${JSON.stringify(routerOptions)}`, async (t) => {
    for (const pattern of PATTERNS) {
      const app = Fastify({ routerOptions })
      t.after(() => app.close())
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
  assert.equal(
    fillPath('/:tenant(^[a-z]+$)', () => ['A']),
    'tenant',
  )
  assert.equal(
    fillPath('/x/:id((a)\\1)', () => ['probe']),
    'id',
  )
})
