import assert from 'node:assert/strict'
import { test } from 'node:test'
import Fastify from 'fastify'
import { answering } from '../../../../lib/entrypoints/cli/policy/successors.ts'

/** A url that is there, one that is gone, a request for it, and whether the first answers it. */
const URLS: readonly [url: string, gone: string, request: string, answers: boolean][] = [
  ['/*', '/', '/', true],
  ['/*', '/orders', '/orders', true],
  ['*', '/a/:b/c', '/a/1/c', true],
  ['/:x', '/orders', '/orders', true],
  ['/:x', '/:y', '/1', true],
  ['/:x', '/orders/1', '/orders/1', false],
  ['/orders/:id', '/orders/:number', '/orders/1', true],
  ['/orders/:id/items', '/orders/:number', '/orders/1', false],
  ['/:tenant?', '/', '/', true],
  ['/orders/:id', '/orders/', '/orders/', true],
  ['/v:x', '/v', '/v', true],
  ['/v:x/b', '/v/b', '/v/b', true],
  ['/:a-:b', '/1-', '/1-', true],
  ['/orders/:id/items', '/orders/', '/orders/', false],
  ['/menu', '/menu/:day?', '/menu', true],
  ['/files/*', '/files/:name', '/files/1', true],
  ['/files/*', '/files/', '/files/', true],
  ['/files/*', '/files', '/files', false],
  ['/files/:name', '/files/*', '/files/1', true],
  ['/files/:a/:b', '/files/*', '/files/1/2', true],
  ['/a.b/:x', '/a.b/c', '/a.b/c', true],
  ['/a.b/:x', '/a-b/c', '/a-b/c', false],
  ['/a(b)/:x', '/a(b)/c', '/a(b)/c', true],
  ['/v:major-:minor', '/v1-2', '/v1-2', true],
  ['/v:x', '/w1', '/w1', false],
]

for (const [url, gone, request, answers] of URLS) {
  test(`${url} ${answers ? 'answers' : 'does not answer'} for ${gone}, as the router does`, async () => {
    assert.equal(answering(url)(gone), answers)
    const app = Fastify()
    app.get(url, async () => 'found')
    assert.equal((await app.inject(request)).statusCode, answers ? 200 : 404)
  })
}

test('where it may answer, it answers', () => {
  assert.equal(answering('/orders')('/Orders/'), true)
  assert.equal(answering('/orders/')('//orders'), true)
  assert.equal(answering('/orders/:id(^\\d+$)')('/orders/:name'), true)
})

test('a route of one path answers for no parameter: it came first, and still does', () => {
  assert.equal(answering('/orders/export')('/orders/:id'), false)
  assert.equal(answering('/orders/:id/export')('/orders/*'), false)
})
