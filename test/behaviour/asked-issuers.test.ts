import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import { type AuthOptions, AuthService } from '../../lib/index.ts'
import { askedApp } from '../helpers/app/asked-app.ts'
import { bareApp } from '../helpers/app/guarded-app.ts'
import { assertRefused } from '../helpers/app/refusals.ts'
import { holdTime } from '../helpers/processes/age-by-date.ts'
import { KeyServer } from '../helpers/servers/key-server.ts'
import { principalOf, standaloneAuthenticator } from '../helpers/tokens/standalone-authenticator.ts'

const authority = await createTestAuthority({ issuer: 'https://acme.test', audience: 'lunch' })
const { publicKeys, issuer: ACME } = authority
const RULES = { publicKeys, audience: 'lunch', tenants: ['acme'] }

const start = (t: TestContext, answer: (iss: string) => unknown, more: AuthOptions = {}) =>
  askedApp(t, 'issuers', answer, more)

const get = async (app: FastifyInstance, url: string, headers: { authorization: string }) =>
  app.inject({ url, headers })

const as = (claims: object = {}) => authority.headers({ resources: { acme: [], b: [] }, ...claims })

test('a function says who is trusted, and is asked once in issuersMaxAge', async (t) => {
  const { app, asked, pass } = await start(t, async (iss) => (iss === ACME ? RULES : null))
  const headers = await authority.headers({ resources: { acme: [] } }, { expiresIn: 3600 })
  assert.equal((await get(app, '/t/acme', headers)).statusCode, 200)
  pass(200)
  assert.equal((await get(app, '/t/acme', headers)).statusCode, 200)
  assert.deepEqual(asked(), [ACME])
  pass(100)
  assert.equal((await get(app, '/t/acme', headers)).statusCode, 200)
  assert.deepEqual(asked(), [ACME])
})

test('a row that changes counts after issuersMaxAge, for cached tokens too', async (t) => {
  let tenants = ['acme']
  const { app, pass } = await start(t, () => ({ ...RULES, tenants }))
  const headers = await authority.headers({ resources: { acme: [], b: [] } }, { expiresIn: 3600 })
  assert.equal((await get(app, '/t/acme', headers)).statusCode, 200)
  tenants = ['b']
  pass(299)
  void (await get(app, '/t/acme', headers))
  pass(1)
  assertRefused(await get(app, '/t/acme', headers), 'ERR_AUTH_TENANT_FORBIDDEN')
  assert.equal((await get(app, '/t/b', headers)).statusCode, 200)
})

test('a row that is taken away ends its cached tokens', async (t) => {
  let isThere = true
  const { app, pass } = await start(t, () => (isThere ? RULES : null))
  const headers = await authority.headers({ resources: { acme: [] } }, { expiresIn: 3600 })
  assert.equal((await get(app, '/t/acme', headers)).statusCode, 200)
  isThere = false
  pass(300)
  assertRefused(await get(app, '/t/acme', headers), 'ERR_AUTH_TOKEN_INVALID')
  isThere = true
  assertRefused(await get(app, '/t/acme', headers), 'ERR_AUTH_TOKEN_INVALID')
  pass(30)
  assert.equal((await get(app, '/t/acme', headers)).statusCode, 200)
})

test('a changed row counts at once after forget', async (t) => {
  let tenants = ['acme']
  const { app, asked } = await start(t, async () => ({ ...RULES, tenants }))
  const headers = await as()
  assert.equal((await get(app, '/t/acme', headers)).statusCode, 200)
  tenants = ['b']
  app.authService.forget({ issuer: 'https://other.test' })
  app.authService.forget({ issuer: ACME, sub: 'test-user' })
  assert.equal((await get(app, '/t/acme', headers)).statusCode, 200)
  for (const what of [{ issuer: ACME }, {}]) {
    asked()
    app.authService.forget(what)
    assertRefused(await get(app, '/t/acme', headers), 'ERR_AUTH_TENANT_FORBIDDEN')
    assert.deepEqual(asked(), [ACME])
  }
})

test('a row that has not changed keeps its tokens after forget', async (t) => {
  let mapped = 0
  const mapClaims = () => {
    mapped += 1
    return { sub: 'u', resources: { acme: [] } }
  }
  const { app } = await start(t, () => ({ ...RULES, mapClaims }))
  const headers = await as()
  for (let time = 0; time < 3; time++) {
    assert.equal((await get(app, '/t/acme', headers)).statusCode, 200)
    app.authService.forget()
  }
  assert.equal(mapped, 1)
})

test('another mapping is no change: it counts for the tokens that come', async (t) => {
  let sub = 'one'
  const answer = () => {
    const mapped = sub
    return { ...RULES, mapClaims: () => ({ sub: mapped }) }
  }
  const { app, pass } = await start(t, answer)
  const [known, fresh] = [
    await authority.headers({ n: 1 }, { expiresIn: 3600 }),
    await authority.headers({ n: 2 }, { expiresIn: 3600 }),
  ]
  const subOf = async (headers: { authorization: string }) =>
    (await get(app, '/me', headers)).json().userInfo.sub
  assert.equal(await subOf(known), 'one')
  pass(300)
  sub = 'two'
  assert.deepEqual([await subOf(known), await subOf(fresh)], ['one', 'two'])
})

test('2 000 invented issuers are asked for once each, and known ones never wait', async (t) => {
  const server = await KeyServer.start(() => publicKeys)
  t.after(() => server.close())
  const asked: string[] = []
  const rules = { audience: 'lunch', tenants: ['acme'], publicKeysUrl: server.url }
  const issuers = async (iss: string) => {
    asked.push(iss)
    return iss === ACME ? rules : null
  }
  const authenticator = standaloneAuthenticator({ issuers, allowPrivateIssuers: true })
  authenticator.open()
  t.after(() => authenticator.close())
  const ask = async (token: string) => principalOf(authenticator, `Bearer ${token}`)
  const token = await authority.token({ resources: { acme: [] } })
  await ask(token)
  for (let batch = 0; batch < 200; batch++) {
    const strangers = Array.from({ length: 10 }, (_, i) => ask(inventedToken(batch * 10 + i)))
    for (const { status } of await Promise.allSettled(strangers)) assert.equal(status, 'rejected')
    const known = principalOf(authenticator, `Bearer ${token}`)
    assert.equal(known instanceof Promise, false, 'a known issuer is not waited for')
  }
  assert.deepEqual([asked.length, new Set(asked).size, server.fetches], [2001, 2001, 1])
})

const [HEADER = '', , SIGNATURE = ''] = (await authority.token()).split('.')

function inventedToken(serial: number, iss = `https://${serial}.test`): string {
  const exp = Math.floor(Date.now() / 1000) + 60
  const claims = { iss, aud: 'lunch', sub: 'u', exp }
  const payload = Buffer.from(JSON.stringify(claims)).toString('base64url')
  return `${HEADER}.${payload}.${SIGNATURE}`
}

/** What is no name of an issuer. A database may fail over it, and it may be long. */
const NO_NAMES: [what: string, iss: string][] = [
  ['nothing', ''],
  ['white space', 'https://a.test '],
  ['NUL', 'https://a.test\0'],
  ['half a letter', 'https://a.test/\ud800'],
  ['more than 2 048 characters', 'x'.repeat(2049)],
  ['so many that the payload is not parsed', 'x'.repeat(10_000)],
]

for (const [what, iss] of NO_NAMES) {
  test(`an iss of ${what} is refused, and not asked for`, async (t) => {
    const { app, asked } = await start(t, () => RULES)
    const response = await get(app, '/me', { authorization: `Bearer ${inventedToken(0, iss)}` })
    assertRefused(response, 'ERR_AUTH_TOKEN_INVALID')
    assert.deepEqual(asked(), [])
  })
}

test('of unknown issuers 16 are asked for at once, and known issuers are not held up', async (t) => {
  const open: (() => void)[] = []
  const { app, asked, pass } = await start(t, (iss) =>
    iss === ACME ? RULES : new Promise((resolve) => open.push(() => resolve(null))),
  )
  const headers = await authority.headers({ resources: { acme: [] } }, { expiresIn: 3600 })
  assert.equal((await get(app, '/t/acme', headers)).statusCode, 200)
  const responses = Array.from({ length: 20 }, (_, i) =>
    get(app, '/me', { authorization: `Bearer ${inventedToken(i)}` }),
  )
  assert.equal((await get(app, '/t/acme', headers)).statusCode, 200)
  assert.equal(asked().length, 17)
  for (const answer of open) answer()
  await Promise.race(responses)
  for (const answer of open) answer()
  for (const refused of await Promise.all(responses)) {
    assertRefused(refused, 'ERR_AUTH_TOKEN_INVALID')
  }
  assert.equal(asked().length, 4)
  pass(0)
})

test('at most 1 000 issuers are held, and the one that is used stays', async (t) => {
  const { app, asked } = await start(t, (iss) => ({ ...RULES, name: iss.slice(8, 20) }))
  const headers = await as()
  assert.equal((await get(app, '/t/acme', headers)).statusCode, 200)
  for (let i = 0; i < 1500; i++) {
    await get(app, '/me', { authorization: `Bearer ${inventedToken(i)}` })
    if (i % 100 === 0) await get(app, '/t/acme', headers)
  }
  assert.equal(app.authService.stats().documents.length, 1000)
  asked()
  assert.equal((await get(app, '/t/acme', headers)).statusCode, 200)
  assert.deepEqual(asked(), [])
})

test('a service with a function is ready at once, and refreshes the keys of issuers by name', async (t) => {
  const { app } = await start(t, (iss) => (iss === ACME ? RULES : null))
  const { authService } = app
  assert.equal(authService.isReady(), true)
  await assert.rejects(authService.refreshKeys(ACME), { code: 'ERR_AUTH_KEYS_UNAVAILABLE' })
  await authService.refreshKeys()
  await get(app, '/me', await as())
  await authService.refreshKeys(ACME)
  assert.deepEqual(authService.stats().documents, [
    { kind: 'keys', name: 'acme.test', state: 'fresh', age: null, failure: null },
  ])
})

test('with issuersMaxAge 0 each request asks anew, and the keys are not fetched each time', async (t) => {
  const server = await KeyServer.start(() => publicKeys)
  t.after(() => server.close())
  const rules = { audience: 'lunch', tenants: ['acme'], publicKeysUrl: server.url }
  const { app, asked, pass } = await start(t, async () => rules, {
    allowPrivateIssuers: true,
    issuersMaxAge: 0,
    keysMaxStale: 0,
  })
  const headers = await as()
  for (let time = 0; time < 3; time++) {
    assert.equal((await get(app, '/t/acme', headers)).statusCode, 200)
    pass(1)
  }
  assert.deepEqual([asked().length, server.fetches], [3, 1])
})

test('a row that changes keeps its keys while their address stays', async (t) => {
  const [server, other] = [
    await KeyServer.start(() => publicKeys),
    await KeyServer.start(() => publicKeys),
  ]
  t.after(() => Promise.all([server.close(), other.close()]))
  const row = { audience: 'lunch', tenants: ['acme'], publicKeysUrl: server.url }
  const { app } = await start(t, () => ({ ...row }), { allowPrivateIssuers: true })
  const headers = await as()
  const ask = async (url: string) => (await get(app, url, headers)).statusCode
  assert.equal(await ask('/t/acme'), 200)
  row.tenants = ['b']
  app.authService.forget()
  assert.equal(await ask('/t/b'), 200)
  assert.deepEqual([server.fetches, other.fetches], [1, 0])
  row.publicKeysUrl = other.url
  app.authService.forget()
  assert.equal(await ask('/t/b'), 200)
  assert.deepEqual([server.fetches, other.fetches], [1, 1])
})

test('an address that is not public gives 503, and one that is discovered there too', async (t) => {
  const server = await KeyServer.start(() => publicKeys)
  t.after(() => server.close())
  const rows = [
    { audience: 'lunch', tenants: ['acme'], publicKeysUrl: server.url },
    { audience: 'lunch', tenants: ['acme'] },
  ]
  for (const row of rows) {
    t.mock.timers.reset()
    const { app } = await start(t, () => row)
    const local = await createTestAuthority({
      issuer: new URL(server.url).origin,
      audience: 'lunch',
    })
    const response = await get(app, '/me', await local.headers())
    assertRefused(response, 'ERR_AUTH_KEYS_UNAVAILABLE')
  }
  assert.equal(server.fetches, 0)
})

test('a service that is closed and installed again asks anew, and knows its issuers', async (t) => {
  holdTime(t, { apis: ['Date'], now: Date.now() })
  const asked: string[] = []
  const issuers = async (iss: string) => {
    asked.push(iss)
    return iss === ACME ? RULES : null
  }
  const service = new AuthService({ issuers })
  const headers = await as()
  for (let time = 0; time < 2; time++) {
    const app = bareApp(t)
    await service.install(app)
    app.get('/t/:tenant', async () => 'ok')
    assert.equal((await get(app, '/t/acme', headers)).statusCode, 200)
    await app.close()
  }
  assert.deepEqual(asked, [ACME])
})
