import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isRouted, nameOf, routerPlaces } from '../../lib/outside/router-spellings.ts'
import { bareApp } from '../helpers/app/guarded-app.ts'

test('a route has a place for each path under which the router keeps it', (t) => {
  const app = bareApp(t)
  const places = routerPlaces(app, 'GET', '/menus/:day?')
  assert.deepEqual(places, [
    { method: 'GET', url: '/menus/:day' },
    { method: 'GET', url: '/menus' },
  ])
  assert.deepEqual(places.map(nameOf), ['GET /menus/:day', 'GET /menus'])
})

test('a place is routed by its method, its path and its constraints', (t) => {
  const app = bareApp(t)
  app.get('/menus', { constraints: { host: 'a.test' } }, async () => 'ok')
  const isThere = (method: string, url: string, host?: string) =>
    isRouted(app, { method, url }, host === undefined ? {} : { host })
  assert.equal(isThere('GET', '/menus', 'a.test'), true)
  assert.equal(isThere('GET', '/menus', 'b.test'), false)
  assert.equal(isThere('GET', '/menus'), false)
  assert.equal(isThere('POST', '/menus', 'a.test'), false)
  assert.equal(isThere('GET', '/others', 'a.test'), false)
})

test('a path that the router cannot have is not routed', (t) => {
  const app = bareApp(t)
  app.get('/menus', async () => 'ok')
  for (const url of ['menus', '/:day?/menus', '/:day(']) {
    assert.equal(isRouted(app, { method: 'GET', url }, {}), false, url)
  }
})
