import assert from 'node:assert/strict'
import { test } from 'node:test'
import tenantAuth, { type RouteDeclaration } from '../../lib/index.ts'
import { assertUnproved, boundApp } from '../helpers/app/bound-app.ts'
import { assertRouteInvalid, configError } from '../helpers/app/config-error.ts'
import {
  as,
  authority,
  bareApp,
  guardedApp,
  RIGHTS,
  trusting,
  untyped,
} from '../helpers/app/guarded-app.ts'
import { logLines } from '../helpers/app/log-lines.ts'
import { outcome } from '../helpers/app/refusals.ts'
import { boundToken, HOLDER, PUBLIC, provedBy } from '../helpers/tokens/bound.ts'

const INVALID = '401 ERR_AUTH_TOKEN_INVALID'
const handler = async () => 'ok'

/** Any value, as JavaScript gives it. */
const declared = (config: object): RouteDeclaration => ({ ...config })

test('a route that requires binding refuses unbound tokens, and the others do not', async (t) => {
  const app = await boundApp(t)
  app.get('/pay/:tenant', { config: declared({ confirmation: 'require', tenant: true }) }, handler)
  const unbound = await as()
  const token = await boundToken()
  const url = '/pay/lazy-raccoon'
  for (const _ of [1, 2]) {
    assert.equal(outcome(await app.inject({ url: '/me', headers: unbound })), '200')
    const response = await app.inject({ url, headers: unbound })
    assert.equal(outcome(response), INVALID)
    const proved = await app.inject({ url, headers: provedBy(HOLDER, token, { url }) })
    assert.equal(outcome(proved), '200')
    const bare = { authorization: `Bearer ${token}` }
    // No challenge asks for a bearer token there.
    assertUnproved(await app.inject({ url, headers: bare }), 'invalid_token')
  }
})

test('an early route that requires binding refuses unbound tokens, too', async (t) => {
  const app = bareApp(t)
  app.get('/pay', { config: declared({ confirmation: 'require' }) }, handler)
  app.get('/other', handler)
  await app.register(tenantAuth, trusting({ confirmation: 'check', publicUrl: PUBLIC }))
  const unbound = await as()
  assert.equal(outcome(await app.inject({ url: '/other', headers: unbound })), '200')
  assert.equal(outcome(await app.inject({ url: '/pay', headers: unbound })), INVALID)
  const headers = provedBy(HOLDER, await boundToken(), { url: '/pay' })
  assert.equal(outcome(await app.inject({ url: '/pay', headers })), '200')
})

test('a route that requires what the application requires is as any other', async (t) => {
  const app = await boundApp(t, { confirmation: 'require' })
  app.get('/pay', { config: declared({ confirmation: 'require' }) }, handler)
  const token = await boundToken()
  const headers = provedBy(HOLDER, token, { url: '/pay' })
  assert.equal(outcome(await app.inject({ url: '/pay', headers })), '200')
  assert.equal(outcome(await app.inject({ url: '/pay', headers: await as() })), INVALID)
})

test('a wrong confirmation of a route stops the boot, in words that agree', async (t) => {
  const app = await boundApp(t, { confirmation: 'refuse' })
  app.get('/pay', { config: declared({ confirmation: 'check' }) }, handler)
  await assertRouteInvalid(
    app,
    "GET /pay: confirmation is not 'require', found 'check'; confirmation is declared, and the option confirmation is 'refuse'",
  )
})

test('a route that was written before the guard, and requires binding, is closed to unbound tokens', async (t) => {
  const [user, bound] = [await as(), { authorization: `Bearer ${await boundToken()}` }]
  for (const [confirmation, config, headers, expected] of [
    ['refuse', { confirmation: 'require' }, user, '403 ERR_AUTH_RESOURCE_MISSING'],
    ['ignore', { confirmation: 'require' }, user, '403 ERR_AUTH_RESOURCE_MISSING'],
    ['ignore', { confirmation: 'require' }, bound, '403 ERR_AUTH_RESOURCE_MISSING'],
    ['check', { confirmation: 'Require' }, user, INVALID],
  ] as const) {
    const app = bareApp(t)
    app.get('/pay', { config: declared(config) }, handler)
    await app.register(tenantAuth, untyped({ ...trusting(), confirmation, publicUrl: PUBLIC }))
    assert.equal(outcome(await app.inject({ url: '/pay', headers })), expected, confirmation)
  }
})

test('where the application requires binding, routes() says so of all routes but open ones', async (t) => {
  const app = await boundApp(t, { confirmation: 'require' })
  await app.ready()
  const others = app.authService.routes().filter(({ confirmation }) => confirmation !== 'require')
  const places = others.map(({ method, url, noauth }) => [`${method} ${url}`, noauth])
  assert.deepEqual(Object.fromEntries(places), { 'GET /open': true, 'HEAD /open': true })
})

/** Routes that must not boot. */
const ROUTES: readonly [what: string, confirmation: string | undefined, config: object][] = [
  ['beside refuse', 'refuse', { confirmation: 'require' }],
  ['beside the default', undefined, { confirmation: 'require' }],
  ['beside ignore', 'ignore', { confirmation: 'require' }],
  ['beside noauth', 'check', { confirmation: 'require', noauth: true }],
  ['with check', 'check', { confirmation: 'check' }],
  ['with refuse', 'check', { confirmation: 'refuse' }],
  ['with ignore', 'check', { confirmation: 'ignore' }],
  ['with true', 'check', { confirmation: true }],
  ['with null', 'check', { confirmation: null }],
  ['with Require', 'check', { confirmation: 'Require' }],
  ['with a list', 'check', { confirmation: ['require'] }],
  ['with an empty text', 'check', { confirmation: '' }],
]

for (const [what, confirmation, config] of ROUTES) {
  test(`a route that asks for binding ${what} does not boot`, async (t) => {
    const all = { ...(confirmation && { confirmation }), publicUrl: PUBLIC }
    await assert.rejects(async () => {
      const app = await guardedApp(t, untyped(all))
      app.get('/pay', { config: declared(config) }, handler)
      await app.ready()
    }, /GET \/pay: .*confirmation/)
  })
}

/** Options that must not boot, and a word of each message. */
const OPTIONS: readonly [what: string, options: object, word: string | RegExp][] = [
  ['check without an address', { confirmation: 'check' }, 'publicUrl'],
  ['require without an address', { confirmation: 'require' }, 'publicUrl'],
  ['another word', { confirmation: 'checked', publicUrl: PUBLIC }, 'confirmation'],
  ['true', { confirmation: true, publicUrl: PUBLIC }, 'confirmation'],
  ...[
    'http://api.test',
    `${PUBLIC}/`,
    `${PUBLIC}/a/`,
    `${PUBLIC}?a`,
    `${PUBLIC}#a`,
    'https://user@api.test',
    'https://user:secret@api.test',
    'ftp://api.test',
    'wss://api.test',
    'api.test',
    '/svc',
    '//api.test',
    '',
    'https://',
    'https://API.test/a/../b',
    7,
    null,
    [PUBLIC],
    new URL(PUBLIC),
  ].map((publicUrl): [string, object, string] => [
    `publicUrl ${String(publicUrl)} (${typeof publicUrl})`,
    { confirmation: 'check', publicUrl },
    'publicUrl',
  ]),
  ...[4, 4.999, 0, -1, 600.5, 601, Number.NaN, Number.POSITIVE_INFINITY, '300', null, {}].map(
    (proofMaxAge): [string, object, string] => [
      `proofMaxAge ${String(proofMaxAge)} (${typeof proofMaxAge})`,
      { confirmation: 'check', publicUrl: PUBLIC, proofMaxAge },
      'proofMaxAge',
    ],
  ),
  ...['proofSeen', 'clientCertificate'].flatMap((name) =>
    ['x', true, {}, null].map((value): [string, object, string] => [
      `${name} ${String(value)}`,
      { confirmation: 'check', publicUrl: PUBLIC, [name]: value },
      name,
    ]),
  ),
]

for (const [what, options, word] of OPTIONS) {
  test(`${what} does not boot`, async (t) => {
    await assert.rejects(async () => {
      const app = await guardedApp(t, untyped(options))
      await app.ready()
    }, configError(word))
  })
}

test('a secret in publicUrl is in no message', async (t) => {
  const options = { confirmation: 'check', publicUrl: 'https://user:hunter2@api.test' }
  await assert.rejects(
    () => guardedApp(t, untyped(options)),
    (error: Error) => !error.message.includes('hunter2'),
  )
})

/** Addresses that boot, and the `htu` of `/me` under each. */
const ADDRESSES: readonly [options: object, htu: string][] = [
  [{ publicUrl: PUBLIC }, `${PUBLIC}/me`],
  [{ publicUrl: 'https://api.test:8443' }, 'https://api.test:8443/me'],
  [{ publicUrl: 'https://api.test/svc2' }, 'https://api.test/svc2/me'],
  [{ publicUrl: 'http://localhost:3000' }, 'http://localhost:3000/me'],
  [{ publicUrl: 'http://127.0.0.1:3000/a' }, 'http://127.0.0.1:3000/a/me'],
  [{ publicUrl: 'http://[::1]:3000' }, 'http://[::1]:3000/me'],
  [{ resource: 'https://api.test/mcp' }, 'https://api.test/me'],
  [{ resource: 'https://api.test:8443/mcp' }, 'https://api.test:8443/me'],
  [{ resource: 'https://other.test/mcp', publicUrl: `${PUBLIC}/v1` }, `${PUBLIC}/v1/me`],
]

for (const [options, htu] of ADDRESSES) {
  test(`with ${JSON.stringify(options)} the address of /me is ${htu}`, async (t) => {
    const app = await boundApp(t, { publicUrl: undefined, ...options })
    const token = await boundToken()
    const ask = async (url: string) =>
      outcome(await app.inject({ url: '/me', headers: provedBy(HOLDER, token, { url }) }))
    assert.equal(await ask(htu), '200')
    assert.equal(await ask(htu.replace('/me', '/mcp/me')), INVALID)
    assert.equal(await ask('http://localhost:80/me'), INVALID)
  })
}

for (const proofMaxAge of [5, 300, 600]) {
  test(`proofMaxAge may be ${proofMaxAge}`, async (t) => {
    const app = await boundApp(t, { proofMaxAge })
    await app.ready()
  })
}

test('the boot says once that the table of proofs is of this process', async (t) => {
  const boots: [options: object, lines: number][] = [
    [{}, 1],
    [{ confirmation: 'require' }, 1],
    [{ proofSeen: () => true }, 0],
    [{ confirmation: 'ignore' }, 0],
    [{ confirmation: 'refuse' }, 0],
  ]
  for (const [options, lines] of boots) {
    const { logger, raw } = logLines()
    const app = await boundApp(t, options, { logger })
    await app.ready()
    const said = raw.filter((line) => /proof/i.test(JSON.parse(line).msg))
    assert.equal(said.length, lines, JSON.stringify(options) + said.join())
  }
})

test('a guest is let in without credentials, and never with bad ones', async (t) => {
  const app = await boundApp(t)
  const token = await boundToken()
  const url = '/guests'
  const bad = [
    { authorization: `Bearer ${token}` },
    { authorization: `DPoP ${token}` },
    { authorization: 'DPoP' },
    { authorization: 'DPoP x' },
    { ...provedBy(HOLDER, token, { url }), authorization: `dpop ${token} ${token}` },
    provedBy(HOLDER, token, { url, method: 'POST' }),
    provedBy(HOLDER, await authority.token({ resources: RIGHTS }), { url }),
  ]
  for (const headers of bad) assert.equal(outcome(await app.inject({ url, headers })), INVALID)
  assert.equal((await app.inject({ url })).body, 'guest')
  const lone = { dpop: provedBy(HOLDER, token, { url }).dpop }
  assert.equal((await app.inject({ url, headers: lone })).body, 'guest')
  const headers = provedBy(HOLDER, token, { url })
  assert.equal((await app.inject({ url, headers })).body, 'known')
  assert.equal(outcome(await app.inject({ url, headers })), INVALID)
})

test('where binding is required, a route for guests takes nobody with an unbound token', async (t) => {
  const app = await boundApp(t, { confirmation: 'require' })
  const config = declared({ guests: true, tenant: false, userInfo: true })
  app.get('/both', { config }, async ({ userInfo }) => (userInfo ? 'known' : 'guest'))
  const url = '/both'
  assert.equal((await app.inject({ url })).body, 'guest')
  assert.equal(outcome(await app.inject({ url, headers: await as() })), INVALID)
  const headers = provedBy(HOLDER, await boundToken(), { url })
  assert.equal((await app.inject({ url, headers })).body, 'known')
})

test('an open route reads no proof', async (t) => {
  const asked: unknown[] = []
  const app = await boundApp(t, { proofSeen: (key: string) => asked.push(key) > 0 })
  const headers = provedBy(HOLDER, await boundToken(), { url: '/open' })
  for (const _ of [1, 2]) assert.equal((await app.inject({ url: '/open', headers })).body, 'open')
  assert.deepEqual(asked, [])
})

test('in dev mode nobody proves anything', async (t) => {
  for (const confirmation of ['check', 'require']) {
    const options = { devMode: true, confirmation, publicUrl: PUBLIC }
    const app = await guardedApp(t, untyped(options))
    app.get('/me', async () => 'ok')
    assert.equal(outcome(await app.inject('/me')), '200')
    const headers = { authorization: 'DPoP x', dpop: 'x' }
    assert.equal(outcome(await app.inject({ url: '/me', headers })), '200')
  }
})

test('work without a request proves nothing', async (t) => {
  const app = await boundApp(t, { confirmation: 'require', asyncContext: true })
  await app.ready()
  const who = { sub: 'job', tenant: 'acme', resources: ['order:read'] }
  assert.equal(await app.authService.actAs(who, () => 'done'), 'done')
})
