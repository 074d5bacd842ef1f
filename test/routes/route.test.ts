import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { FastifyServerOptions } from 'fastify'
import { isRouted, routerSpellings } from '../../lib/routes/route.ts'
import { bareApp } from '../helpers/app/guarded-app.ts'
import { LOOSE, PATTERNS } from '../helpers/app/router-patterns.ts'
import { holds } from '../helpers/arbitraries/property.ts'

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

/** A router that overlooks slashes cannot keep both `/` and `//`, but each is alone here. */
const PATHS = [...PATTERNS, '//', '/%41/é']

const OPTIONS: readonly (FastifyServerOptions & { [name: string]: unknown })[] = [
  {},
  { routerOptions: LOOSE },
  { routerOptions: { ignoreTrailingSlash: true } },
]

for (const options of OPTIONS) {
  for (const url of PATHS) {
    test(`a route ${url} is found where the router keeps it, under ${JSON.stringify(options)}`, (t) => {
      const app = bareApp(t, options)
      const spellings = routerSpellings(url, app)
      const isThere = () => spellings.map((each) => isRouted(app, { method: 'GET', url: each }, {}))
      assert.equal(isThere().includes(true), false, 'before it is written')
      app.get(url, async () => 'x')
      assert.equal(isThere().includes(false), false, `${spellings}`)
    })
  }
}

test('every path that the router takes is found where it keeps it', async (t) => {
  const part = fc.constantFrom(
    '/',
    '//',
    'a',
    'B',
    ':x',
    ':y?',
    ':z(^\\d+$)',
    '-',
    '.',
    '::',
    '%20',
  )
  const paths = fc.array(part, { maxLength: 6 }).map((parts) => `/${parts.join('')}`)
  const property = fc.asyncProperty(paths, fc.constantFrom(...OPTIONS), async (url, options) => {
    const app = bareApp(t, options)
    try {
      app.get(url, async () => 'x')
    } catch {
      return
    }
    const found = routerSpellings(url, app).map((each) =>
      isRouted(app, { method: 'GET', url: each }, {}),
    )
    assert.equal(found.includes(false), false, url)
  })
  await holds(t, property)
})
