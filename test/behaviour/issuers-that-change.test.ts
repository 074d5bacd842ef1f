import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { type TestContext, test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import type { AuthOptions } from '../../lib/index.ts'
import { askedApp } from '../helpers/app/asked-app.ts'
import { assertRefused } from '../helpers/app/refusals.ts'
import { until } from '../helpers/processes/until.ts'
import { askedServer } from '../helpers/servers/asked-server.ts'

const ACME = 'https://acme.test'
const authority = await createTestAuthority({ issuer: ACME, audience: 'lunch' })
const { publicKeys } = authority
const RULES = { audience: 'lunch', tenants: ['acme', 'b'] }

/** An application whose issuer the test answers for. */
const start = (t: TestContext, answer: (iss: string) => unknown, more: AuthOptions = {}) =>
  askedApp(t, 'issuers', answer, { allowPrivateIssuers: true, ...more })

/** Keys that come when the test says so. */
async function lateKeys(t: TestContext) {
  const held: ServerResponse[] = []
  const server = await askedServer((_request, response) => void held.push(response))
  t.after(() => server.close?.())
  return {
    url: server.url,
    isAsked: () => until(() => held.length > 0),
    come: () => {
      for (const response of held.splice(0)) response.end(JSON.stringify(publicKeys))
    },
  }
}

const b64 = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')

const exp = Math.floor(Date.now() / 1000) + 600
const PAYLOAD = b64({ iss: ACME, aud: 'lunch', sub: 'u', exp })
const SIGNATURE = Buffer.alloc(64, 1).toString('base64url')

/** What no signature of anybody can save. */
const UNPROVABLE: readonly [what: string, token: string][] = [
  ...['none', 'None', 'HS256', 'HS384', 'HS512', 'ES256K', 'RS1', 'RSA-OAEP', 'unknown', ''].map(
    (alg): [string, string] => [`the alg "${alg}"`, `${b64({ alg })}.${PAYLOAD}.${SIGNATURE}`],
  ),
  ['the alg "none" and no signature', `${b64({ alg: 'none' })}.${PAYLOAD}.`],
  ['no signature', `${b64({ alg: 'ES256', kid: 'a' })}.${PAYLOAD}.`],
  ['no alg', `${b64({ kid: 'a' })}.${PAYLOAD}.${SIGNATURE}`],
  ['a critical extension', `${b64({ alg: 'ES256', crit: ['x'] })}.${PAYLOAD}.${SIGNATURE}`],
]

for (const [what, token] of UNPROVABLE) {
  test(`a token with ${what} is refused, and its issuer is not asked for`, async (t) => {
    const { app, asked } = await start(t, () => ({ ...RULES, publicKeys }))
    const ask = async () =>
      app.inject({ url: '/me', headers: { authorization: `Bearer ${token}` } })
    assertRefused(await ask(), 'ERR_AUTH_TOKEN_INVALID')
    assert.deepEqual(asked(), [])
    assert.equal((await get(app, '/me')).statusCode, 200)
    assertRefused(await ask(), 'ERR_AUTH_TOKEN_INVALID')
    assert.deepEqual(asked(), [ACME])
  })
}

test("an issuer's own algorithms are applied after the answer, which brings them", async (t) => {
  const { app, asked } = await start(t, () => ({ ...RULES, publicKeys, algorithms: ['ES256'] }), {
    algorithms: ['RS256'],
  })
  assert.equal((await get(app, '/me')).statusCode, 200)
  const other = `${b64({ alg: 'RS256' })}.${PAYLOAD}.${SIGNATURE}`
  const headers = { authorization: `Bearer ${other}` }
  assertRefused(await app.inject({ url: '/me', headers }), 'ERR_AUTH_TOKEN_INVALID')
  assert.deepEqual(asked(), [ACME])
})

const CLAIMS = { resources: { acme: [], b: [] } }

let serial = 0

async function get(app: FastifyInstance, url: string) {
  serial += 1
  const headers = await authority.headers({ ...CLAIMS, jti: `${serial}` })
  return app.inject({ url, headers })
}

for (const how of ['other keys', 'the keys themselves', 'the same address'] as const) {
  test(`a request that waits for keys is proved by the issuer as it is then, with ${how}`, async (t) => {
    const [slow, other] = [await lateKeys(t), await lateKeys(t)]
    let row: object = { ...RULES, publicKeysUrl: slow.url }
    const { app } = await start(t, async () => row)
    const [waiting, pinned] = [get(app, '/t/acme'), get(app, '/t/b')]
    await slow.isAsked()
    const place = {
      'other keys': { publicKeysUrl: other.url },
      'the keys themselves': { publicKeys },
      'the same address': { publicKeysUrl: slow.url },
    }
    row = { ...RULES, ...place[how], tenants: ['acme'] }
    app.authService.forget({ issuer: ACME })
    const later = get(app, '/t/acme')
    if (how === 'other keys') await other.isAsked()
    other.come()
    if (how === 'the same address') slow.come()
    assert.equal((await later).statusCode, 200)
    assert.equal((await waiting).statusCode, 200)
    assertRefused(await pinned, 'ERR_AUTH_TENANT_FORBIDDEN')
  })
}

const ENDS: readonly [
  what: string,
  answer: unknown,
  code: 'ERR_AUTH_TOKEN_INVALID' | 'ERR_AUTH_ISSUERS_UNAVAILABLE',
][] = [
  ['is gone', null, 'ERR_AUTH_TOKEN_INVALID'],
  ['cannot be used', { ...RULES, publicKeys, tenants: [] }, 'ERR_AUTH_ISSUERS_UNAVAILABLE'],
]

for (const [what, answer, code] of ENDS) {
  test(`a request waits for keys of an issuer that ${what} when they come`, async (t) => {
    const slow = await lateKeys(t)
    let row: unknown = { ...RULES, publicKeysUrl: slow.url }
    const { app } = await start(t, () => row)
    const waiting = get(app, '/t/acme')
    await slow.isAsked()
    row = answer
    app.authService.forget()
    assertRefused(await get(app, '/t/acme'), code)
    slow.come()
    assertRefused(await waiting, code)
  })
}

test('an answer that was forgotten on its way decides nothing', async (t) => {
  const open: ((answer: unknown) => void)[] = []
  const { app } = await start(t, () => new Promise((resolve) => void open.push(resolve)))
  const waiting = get(app, '/t/b')
  await until(() => open.length === 1)
  app.authService.forget({ issuer: ACME })
  open[0]?.({ ...RULES, publicKeys })
  await until(() => open.length === 2)
  open[1]?.({ ...RULES, publicKeys, tenants: ['acme'] })
  assertRefused(await waiting, 'ERR_AUTH_TENANT_FORBIDDEN')
})

test('a function that forgets its own answers is refused in the end', async (t) => {
  const { app, asked } = await start(t, async () => {
    app.authService.forget()
    return { ...RULES, publicKeys }
  })
  assertRefused(await get(app, '/me'), 'ERR_AUTH_ISSUERS_UNAVAILABLE')
  assert.equal(asked().length, 6)
})

test('an issuer that changes whenever its keys come is refused in the end', async (t) => {
  let changes = 0
  const server = await askedServer((_request, response) => {
    // Each answer has another address, so that its keys have to be waited for.
    app.authService.forget({ issuer: ACME })
    response.end(JSON.stringify(publicKeys))
  })
  const { app } = await start(t, () => {
    changes += 1
    return { ...RULES, publicKeysUrl: `${server.url}?${changes}` }
  })
  assertRefused(await get(app, '/me'), 'ERR_AUTH_ISSUERS_UNAVAILABLE')
  assert.equal(changes <= 6, true, `${changes} questions for one request`)
})

/** Mappings that work on the claims that they get. */
const MAPPINGS: readonly [what: string, mapClaims: (claims: Record<string, unknown>) => unknown][] =
  [
    [
      'takes what it needs away',
      (claims) => {
        const { resources } = claims
        for (const name of Object.keys(claims)) delete claims[name]
        return { sub: 'u', resources }
      },
    ],
    ['moves the token to another audience', (claims) => Object.assign(claims, { aud: 'other' })],
    ['names another issuer', (claims) => Object.assign(claims, { iss: 'https://other.test' })],
    [
      'gives more rights',
      (claims) => Object.assign(claims, { resources: { acme: [], b: ['x:y'] } }),
    ],
  ]

for (const [what, mapClaims] of MAPPINGS) {
  for (const isDear of [false, true]) {
    const size = isDear ? ', of a token that is dear to read' : ''
    test(`what is proved anew are the token's own claims, where a mapping ${what}${size}`, async (t) => {
      const slow = await lateKeys(t)
      let row: object = { ...RULES, publicKeysUrl: slow.url, mapClaims }
      const { app } = await start(t, () => row)
      const padding = isDear ? { padding: 'x'.repeat(5000) } : {}
      const headers = await authority.headers({ ...CLAIMS, ...padding })
      const waiting = app.inject({ url: '/me', headers })
      await slow.isAsked()
      row = {
        ...RULES,
        publicKeysUrl: slow.url,
        mapClaims: (claims: object) => ({ ...claims }),
        tenants: '*',
      }
      app.authService.forget()
      const later = get(app, '/me')
      slow.come()
      assert.equal((await later).statusCode, 200)
      const { issuer, userInfo } = (await waiting).json()
      const found = [issuer, userInfo.aud, userInfo.resources]
      assert.deepEqual(found, [ACME, 'lunch', CLAIMS.resources])
    })
  }
}

test('with issuersMaxAge 0 a token whose keys are waited for is proved all the same', async (t) => {
  const slow = await lateKeys(t)
  const rules = async () => {
    await new Promise(setImmediate)
    pass(0.003)
    return { ...RULES, publicKeysUrl: slow.url }
  }
  const { app, pass } = await start(t, rules, { issuersMaxAge: 0 })
  const waiting = get(app, '/t/acme')
  await slow.isAsked()
  slow.come()
  assert.equal((await waiting).statusCode, 200)
})
