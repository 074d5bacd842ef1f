import assert from 'node:assert/strict'
import { test } from 'node:test'
import { as, guardedApp } from '../helpers/app/guarded-app.ts'
import { outcome } from '../helpers/app/refusals.ts'

const FORBIDDEN = '403 ERR_AUTH_TENANT_FORBIDDEN'
const INVALID = '400 ERR_AUTH_TENANT_INVALID'
const MISSING = '400 ERR_AUTH_TENANT_MISSING'

/** Encoded names as they stand in a request. The user may not act for these tenants. */
const NAMES: readonly [what: string, encoded: string, refused: string][] = [
  ['__proto__', '__proto__', FORBIDDEN],
  ['constructor', 'constructor', FORBIDDEN],
  ['prototype', 'prototype', FORBIDDEN],
  ['toString', 'toString', FORBIDDEN],
  ['hasOwnProperty', 'hasOwnProperty', FORBIDDEN],
  ['valueOf', 'valueOf', FORBIDDEN],
  ['__defineGetter__', '__defineGetter__', FORBIDDEN],
  ['*', '*', INVALID],
  ['* encoded', '%2A', INVALID],
  ['**', '**', FORBIDDEN],
  ['a space', '%20', FORBIDDEN],
  ['a name and a space', 'lazy-raccoon%20', FORBIDDEN],
  ['a slash in the name', 'a%2Fb', FORBIDDEN],
  ['three dots', '...', FORBIDDEN],
  ['NUL', '%00', INVALID],
  ['a name and NUL', 'lazy-raccoon%00', INVALID],
  ['a line feed', 'lazy-raccoon%0A', INVALID],
  ['U+001F', 'a%1F', INVALID],
  ['U+007F', 'a%7F', INVALID],
  ['U+0080', 'a%C2%80', INVALID],
  ['U+0085, a line end of C1', 'lazy-raccoon%C2%85', INVALID],
  ['U+009F', 'a%C2%9F', INVALID],
  ['U+00A0, no control', 'a%C2%A0', FORBIDDEN],
  ['zero width', 'lazy-raccoon%E2%80%8B', FORBIDDEN],
  ['255 characters', 'a'.repeat(255), FORBIDDEN],
  ['256 characters', 'a'.repeat(256), INVALID],
  ['another case', 'Lazy-Raccoon', FORBIDDEN],
  ['a prefix', 'lazy-racc', FORBIDDEN],
  ['a doubly encoded name', 'lazy%252Draccoon', FORBIDDEN],
  ['a look-alike of Cyrillic', 'l%D0%B0zy-raccoon', FORBIDDEN],
  ['two names', 'lazy-raccoon,quiet-otter', FORBIDDEN],
]

for (const [what, encoded, refused] of NAMES) {
  test(`${what} is a tenant neither in the path nor in the query: ${refused}`, async (t) => {
    const app = await guardedApp(t, {}, { routerOptions: { maxParamLength: 999 } })
    const config = { tenant: true } as const
    app.get('/x', { config }, async () => 'never')
    app.get('/:tenant/x', { config }, async () => 'never')
    const headers = await as()
    assert.equal(outcome(await app.inject({ url: `/${encoded}/x`, headers })), refused)
    assert.equal(outcome(await app.inject({ url: `/x?tenant=${encoded}`, headers })), refused)
  })
}

test('an empty segment does not name a tenant, and neither does an empty query', async (t) => {
  const app = await guardedApp(t)
  app.get('/x', { config: { tenant: true } }, async () => 'never')
  app.get('/:tenant/y', async () => 'never')
  const headers = await as()
  for (const url of ['//y', '/x?tenant=', '/x?tenant']) {
    assert.equal(outcome(await app.inject({ url, headers })), INVALID)
  }
})

/** Own keys of `resources` that do not look like names. Their holders may act for these tenants. */
const HELD = [
  '__proto__',
  'constructor',
  'toString',
  'a/b',
  'ä'.normalize('NFC'),
  '.',
  'a'.repeat(255),
]

for (const tenant of HELD) {
  test(`${tenant.slice(0, 20)} is a tenant for a user who holds it as an own key, and for no other`, async (t) => {
    const app = await guardedApp(t, {}, { routerOptions: { maxParamLength: 999 } })
    app.get('/x', { config: { tenant: true, resources: true } }, async (request) => ({
      tenant: request.tenant,
      resources: request.resources,
    }))
    const resources = JSON.parse(`{${JSON.stringify(tenant)}:["a:b"]}`)
    const headers = await as(resources)
    const url = `/x?tenant=${encodeURIComponent(tenant)}`
    const response = await app.inject({ url, headers })
    assert.deepEqual(response.json(), { tenant, resources: ['a:b'] })
    assert.equal(outcome(await app.inject({ url: '/x?tenant=other', headers })), FORBIDDEN)
  })
}

test('names are compared exactly: NFC and NFD of one word are two tenants', async (t) => {
  const app = await guardedApp(t)
  app.get('/:tenant/x', async () => 'x')
  const headers = await as({ ['ä'.normalize('NFC')]: [] })
  const get = async (name: string) =>
    outcome(await app.inject({ url: `/${encodeURIComponent(name)}/x`, headers }))
  assert.equal(await get('ä'.normalize('NFC')), '200')
  assert.equal(await get('ä'.normalize('NFD')), FORBIDDEN)
})

test('a name that is no whole text is no tenant anywhere', async (t) => {
  const half = 'a\ud800'
  const held = { x: [], [half]: ['a:b'] }
  const app = await guardedApp(t, { resolveTenant: () => half, asyncContext: true })
  app.get('/x', { config: { tenant: true } }, async () => 'never')
  app.get('/in', { config: { authorization: true } }, async ({ authorization }) =>
    authorization.in(half),
  )
  const headers = await as(held)
  assert.equal(outcome(await app.inject({ url: '/x', headers })), INVALID)
  assert.equal(outcome(await app.inject({ url: '/in', headers })), INVALID)
  const who = { sub: 'job', tenant: half, resources: [] }
  await assert.rejects(
    app.authService.actAs(who, () => 'never'),
    {
      code: 'ERR_AUTH_TENANT_INVALID',
    },
  )
  await assert.rejects(guardedApp(t, { tenants: [half] }), { code: 'ERR_AUTH_CONFIG_INVALID' })
})

test('a user who holds * and no tenant may act for no tenant', async (t) => {
  const app = await guardedApp(t)
  app.get('/:tenant/x', async () => 'never')
  const headers = await as({ '*': ['order:read'] })
  assert.equal(outcome(await app.inject({ url: '/*/x', headers })), INVALID)
  assert.equal(outcome(await app.inject({ url: '/a/x', headers })), FORBIDDEN)
})

/**
 * Queries that name a tenant more than once or in a wrong form. The user may act for the tenant.
 */
const QUERIES: readonly [query: string, refused: string][] = [
  ['?tenant=lazy-raccoon&tenant=quiet-otter', INVALID],
  ['?tenant=lazy-raccoon&tenant=lazy-raccoon', INVALID],
  ['?tenant=lazy-raccoon&tenant=', INVALID],
  ['?tenant[]=lazy-raccoon', MISSING],
  ['?tenant[x]=lazy-raccoon', MISSING],
  ['?tenant=..', FORBIDDEN],
  ['?tenant=%2e%2e', FORBIDDEN],
  ['?Tenant=lazy-raccoon', MISSING],
  ['?tenant%00=lazy-raccoon', MISSING],
  ['?tenants=lazy-raccoon', MISSING],
  ['?__proto__[tenant]=lazy-raccoon', MISSING],
  ['?__proto__=1&constructor=2', MISSING],
  ['?x=tenant=lazy-raccoon', MISSING],
  ['#?tenant=lazy-raccoon', MISSING],
]

for (const [query, refused] of QUERIES) {
  test(`${query} is refused: ${refused}`, async (t) => {
    const app = await guardedApp(t)
    app.get('/x', { config: { tenant: true } }, async () => 'never')
    const response = await app.inject({ url: `/x${query}`, headers: await as() })
    assert.equal(outcome(response), refused)
  })
}

/** Results that a query parser of the application may give. */
const PARSED: readonly [what: string, query: unknown, expected: string][] = [
  ['null', null, MISSING],
  ['undefined', undefined, MISSING],
  ['a string', 'tenant', MISSING],
  ['a number', 7, MISSING],
  ['a list', ['lazy-raccoon'], MISSING],
  ['a map', new Map([['tenant', 'lazy-raccoon']]), MISSING],
  ['search parameters', new URLSearchParams('tenant=lazy-raccoon'), MISSING],
  ['an inherited tenant', Object.create({ tenant: 'lazy-raccoon' }), MISSING],
  ['an undefined tenant', { tenant: undefined }, MISSING],
  ['a nested tenant', { tenant: { x: 'lazy-raccoon' } }, INVALID],
  ['a list of one tenant', { tenant: ['lazy-raccoon'] }, INVALID],
  ['a String object', { tenant: Object('lazy-raccoon') }, INVALID],
  ['what turns into a string', { tenant: { toString: () => 'lazy-raccoon' } }, INVALID],
  ['a null tenant', { tenant: null }, INVALID],
  ['a number for a tenant', { tenant: 7 }, INVALID],
  ['true', { tenant: true }, INVALID],
  ['half of a character', { tenant: 'a\ud83d' }, INVALID],
  ['the other half', { tenant: '\ude00' }, INVALID],
  ['a whole one', { tenant: '\ud83d\ude00' }, FORBIDDEN],
  ['a plain tenant', { tenant: 'lazy-raccoon' }, '200'],
]

for (const [what, query, expected] of PARSED) {
  test(`a query parser that gives ${what} leads to ${expected}`, async (t) => {
    const parser = { querystringParser: () => query }
    // The type promises objects, but parsers written in JavaScript may give anything.
    const routerOptions: object = parser
    const app = await guardedApp(t, {}, { routerOptions })
    app.get('/x', { config: { tenant: true } }, async () => 'x')
    const response = await app.inject({ url: '/x?tenant=x', headers: await as() })
    assert.equal(outcome(response), expected)
  })
}

test('a polluted Object.prototype names no tenant', async (t) => {
  const app = await guardedApp(t)
  app.get('/x', { config: { tenant: true } }, async () => 'never')
  const headers = await as()
  await app.ready()
  Object.defineProperty(Object.prototype, 'tenant', { value: 'lazy-raccoon', configurable: true })
  t.after(() => Reflect.deleteProperty(Object.prototype, 'tenant'))
  const response = await app.inject({ url: '/x', headers })
  Reflect.deleteProperty(Object.prototype, 'tenant')
  assert.equal(outcome(response), MISSING)
})
