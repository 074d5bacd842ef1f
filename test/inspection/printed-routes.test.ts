import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { printedRoutes } from '../../lib/inspection/printed-routes.ts'
import { bareApp } from '../helpers/app/guarded-app.ts'

async function urls(app: FastifyInstance): Promise<string[]> {
  await app.ready()
  return printedRoutes(app).map(({ method, url }) => `${method} ${url}`)
}

/** Patterns, and how the router spells them. */
const PATTERNS: readonly [patterns: string[], printed: string[]][] = [
  [['/'], ['/']],
  [['*'], ['*']],
  [
    ['/', '*'],
    ['/', '*'],
  ],
  [
    ['/a', '/ab', '/abc/d', '/x'],
    ['/a', '/ab', '/abc/d', '/x'],
  ],
  [
    ['/orders', '/orders/:id', '/orders/:id/items'],
    ['/orders', '/orders/:id', '/orders/:id/items'],
  ],
  [
    ['/:a', '/:b/x'],
    ['/:a|:b', '/:a|:b/x'],
  ],
  [['/files/*'], ['/files/*']],
  [['/near/:lat-:lng'], ['/near/:lat-:lng']],
  [['/:file(^\\d+).png'], ['/:file(^\\d+).png']],
  [['/:id(^(?:tenant)$)/x'], ['/:id(^(?:tenant)$)/x']],
  [['/x/:id?'], ['/x', '/x/:id']],
  [['/::literal'], ['/:literal']],
]

for (const [patterns, printed] of PATTERNS) {
  test(`${patterns.join(', ')} are read right from print`, async (t) => {
    const app = bareApp(t, { exposeHeadRoutes: false })
    for (const pattern of patterns) app.get(pattern, async () => 'x')
    assert.deepEqual(
      await urls(app),
      printed.map((url) => `GET ${url}`),
    )
  })
}

test('routes of one path with other constraints are read one by one, each with its own hooks', async (t) => {
  const app = bareApp(t, { exposeHeadRoutes: false })
  function guardA(_request: unknown, _reply: unknown, done: () => void): void {
    done()
  }
  const b = { host: 'b.test' }
  for (const path of ['/', '/deep/below/x', '/deep/below/y']) {
    app.get(path, { constraints: { host: 'a.test' }, onRequest: guardA }, async () => 'a')
    app.get(path, { constraints: b }, async () => 'b')
    app.get(path, { constraints: { ...b, version: '1.0.0' }, onRequest: guardA }, async () => 'b')
    app.get(path, { constraints: { host: /^c(?: |\))\.test$/ } }, async () => 'c')
  }
  await app.ready()
  const found = new Map<string, boolean[]>()
  for (const { url, hooks } of printedRoutes(app, { hooks: 'onRequest' })) {
    found.set(url, [...(found.get(url) ?? []), hooks.includes('guardA')])
  }
  assert.deepEqual([...found.keys()], ['/', '/deep/below/x', '/deep/below/y'])
  for (const guarded of found.values()) {
    assert.equal(guarded.length, 4)
    assert.equal(guarded.filter((is) => is).length, 2)
  }
})

test('every method is read, HEAD twins and custom ones too', async (t) => {
  const app = bareApp(t)
  app.addHttpMethod('PROPFIND')
  app.addHttpMethod('M-SEARCH')
  app.get('/x', async () => 'x')
  app.route({
    method: ['PUT', 'DELETE', 'PROPFIND', 'M-SEARCH'],
    url: '/x',
    handler: async () => 'x',
  })
  const found = await urls(app)
  assert.deepEqual(found.sort(), [
    'DELETE /x',
    'GET /x',
    'HEAD /x',
    'M-SEARCH /x',
    'PROPFIND /x',
    'PUT /x',
  ])
})

test('the hooks of a route are those of its scope and its own, by name', async (t) => {
  const app = bareApp(t, { exposeHeadRoutes: false })
  app.addHook('onRequest', async function outer() {})
  app.get('/plain', async () => 'x')
  await app.register(async (child) => {
    child.addHook('onRequest', async function inner() {})
    child.get('/child', { onRequest: async () => {} }, async () => 'x')
  })
  await app.ready()
  assert.deepEqual(printedRoutes(app, { hooks: 'onRequest' }), [
    { method: 'GET', url: '/plain', hooks: ['outer'] },
    { method: 'GET', url: '/child', hooks: ['outer', 'inner', 'onRequest'] },
  ])
  assert.deepEqual(printedRoutes(app)[0], { method: 'GET', url: '/plain', hooks: [] })
})

test('an application without routes has none', async (t) => {
  assert.deepEqual(await urls(bareApp(t)), [])
})
