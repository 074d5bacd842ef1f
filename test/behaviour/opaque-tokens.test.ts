import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import { askedApp } from '../helpers/app/asked-app.ts'
import { authority, guardedApp, trusting } from '../helpers/app/guarded-app.ts'
import { assertRefused } from '../helpers/app/refusals.ts'
import { settledHeap } from '../helpers/processes/used-heap.ts'
import { partsOf } from '../helpers/tokens/forge.ts'
import { principalOf, standaloneAuthenticator } from '../helpers/tokens/standalone-authenticator.ts'

const { issuer: iss, audience: aud } = authority
const GOOD = { iss, aud, sub: 'machine', resources: { acme: ['menu:read'] } }

const start = (t: TestContext, answer: (token: string) => unknown, more: object = {}) =>
  askedApp(t, 'opaqueToken', answer, more)

const get = async (app: FastifyInstance, token: string, url = '/t/acme') =>
  app.inject({ url, headers: { authorization: `Bearer ${token}` } })

const soon = (seconds: number) => Math.floor(Date.now() / 1000) + seconds

test('claims stand for an opaque token, and are kept for opaqueMaxAge', async (t) => {
  const { app, asked, pass } = await start(t, async () => GOOD)
  for (const _ of [1, 2]) assert.equal((await get(app, 'key-1')).statusCode, 200)
  assert.deepEqual(asked(), ['key-1'])
  pass(29.999)
  assert.equal((await get(app, 'key-1')).statusCode, 200)
  assert.deepEqual(asked(), [])
  pass(0.001)
  assert.equal((await get(app, 'key-1')).statusCode, 200)
  assert.deepEqual(asked(), ['key-1'])
})

test('where the wall clock goes ahead alone, a key is asked for anew, and refused nowhere', async (t) => {
  const opaqueToken = t.mock.fn(async () => GOOD)
  const app = await guardedApp(t, { opaqueToken, checks: { holds: () => true } })
  app.get('/t/:tenant', { config: { check: 'holds' } }, async () => 'ok')
  const { now } = Date
  for (const hours of [0, 1]) {
    const ahead = t.mock.method(Date, 'now', () => now() + hours * 3_600_000)
    assert.equal((await get(app, 'key')).statusCode, 200)
    const { signal } = await app.authService.authenticate({ token: 'key', tenant: 'acme' })
    assert.deepEqual([signal.aborted, opaqueToken.mock.callCount()], [false, hours + 1])
    ahead.mock.restore()
  }
})

test('claims of a slow answer are kept from when they were asked for', async (t) => {
  const open: (() => void)[] = []
  const { app, asked, pass } = await start(
    t,
    () => new Promise((resolve) => open.push(() => resolve(GOOD))),
  )
  const before = Date.now()
  const first = get(app, 'key', '/me')
  await new Promise(setImmediate)
  pass(4)
  open[0]?.()
  assert.equal(new Date((await first).json().expiresAt).getTime(), before + 30_000)
  pass(25.999)
  assert.equal((await get(app, 'key')).statusCode, 200)
  assert.deepEqual(asked(), ['key'])
  pass(0.001)
  const anew = get(app, 'key')
  await new Promise(setImmediate)
  open[1]?.()
  assert.equal((await anew).statusCode, 200)
  assert.deepEqual(asked(), ['key'])
})

test('claims are kept no longer than their exp, and end with it', async (t) => {
  const exp = soon(10)
  const { app, asked, pass } = await start(t, (token) =>
    token === 'short' ? { ...GOOD, exp } : null,
  )
  const { expiresAt } = (await get(app, 'short', '/me')).json()
  assert.equal(new Date(expiresAt).getTime(), exp * 1000)
  pass(9)
  assert.equal((await get(app, 'short')).statusCode, 200)
  assert.deepEqual(asked(), ['short'])
  pass(3)
  assert.equal((await get(app, 'short')).statusCode, 200, 'within the tolerance, and asked anew')
  assert.deepEqual(asked(), ['short'])
  pass(5)
  assertRefused(await get(app, 'short'), 'ERR_AUTH_TOKEN_INVALID')
})

test('without exp opaqueMaxAge is their life', async (t) => {
  const { app } = await start(t, () => GOOD, { opaqueMaxAge: 60 })
  const before = Date.now()
  const { expiresAt } = (await get(app, 'key', '/me')).json()
  assert.equal(new Date(expiresAt).getTime(), before + 60_000)
})

const UNFIT: [what: string, claims: object][] = [
  ['another issuer', { iss: 'https://other.test' }],
  ['no issuer', { iss: undefined }],
  ['another audience', { aud: 'other' }],
  ['no audience', { aud: undefined }],
  ['an end that is over', { exp: 1 }],
  ['an end that is no time', { exp: 'soon' }],
  ['a beginning to come', { nbf: 1e12 }],
  ['a sender', { cnf: { jkt: 'x' } }],
  ['no sub', { sub: undefined }],
  ['rights that are none', { resources: ['acme'] }],
]

for (const [what, claims] of UNFIT) {
  test(`claims with ${what} are refused as those of a JWT are`, async (t) => {
    const { app } = await start(t, () => ({ ...GOOD, ...claims }))
    assertRefused(await get(app, 'key'), 'ERR_AUTH_TOKEN_INVALID')
  })
}

test('claims go through mapClaims and the pin of their issuer', async (t) => {
  const other = await createTestAuthority({ issuer: 'https://b.test', audience: aud })
  const issuers = [
    {
      ...authority.issuerRules({ tenants: ['acme'] }),
      mapClaims: (c: object) => ({ ...GOOD, ...c }),
    },
    other.issuerRules({ tenants: '*' }),
  ]
  const everywhere = { ...GOOD, resources: { '*': ['a:b'], acme: [], b: [] } }
  const answers = new Map<string, object>([
    ['pinned', everywhere],
    ['free', { ...everywhere, iss: 'https://b.test' }],
    ['nameless', { ...everywhere, iss: undefined }],
    ['strange', { ...everywhere, iss: 'https://c.test' }],
  ])
  const { app } = await start(t, (token) => answers.get(token) ?? null, { issuers })
  const pinned = (await get(app, 'pinned', '/me')).json()
  assert.deepEqual([pinned.issuer, pinned.userInfo.resources], [iss, { acme: ['a:b'] }])
  assert.deepEqual((await get(app, 'free', '/me')).json().tenants, ['acme', 'b'])
  for (const token of ['nameless', 'strange', 'unknown']) {
    assertRefused(await get(app, token), 'ERR_AUTH_TOKEN_INVALID')
  }
})

test('a JWT in place of the token is verified as if it had come itself', async (t) => {
  const good = await authority.token({ resources: { acme: [] } }, { expiresIn: 3600 })
  const [header, payload, signature] = partsOf(good)
  const stranger = await createTestAuthority()
  const answers = new Map([
    ['good', good],
    ['expired', await authority.token({}, { expiresIn: -60 })],
    ['forged', `${header}.${payload}.${signature.slice(4)}AAAA`],
    ['strange', await stranger.token()],
  ])
  const { app, asked, pass } = await start(t, (token) => answers.get(token) ?? 'no JWT')
  for (const _ of [1, 2]) assert.equal((await get(app, 'good')).statusCode, 200)
  assert.deepEqual(asked(), ['good'])
  pass(30)
  assert.equal((await get(app, 'good')).statusCode, 200)
  assert.deepEqual(asked(), ['good'], 'asked anew after opaqueMaxAge, though the JWT lasts longer')
  for (const token of ['expired', 'forged', 'strange']) {
    assertRefused(await get(app, token), 'ERR_AUTH_TOKEN_INVALID')
  }
  assertRefused(await get(app, 'other'), 'ERR_AUTH_INTROSPECTION_UNAVAILABLE')
})

const NO_ANSWERS: [what: string, answer: () => unknown][] = [
  ['nothing', () => undefined],
  ['true', () => true],
  ['a list', () => [GOOD]],
  ['an opaque token again', () => 'key-2'],
  ['an object in itself', () => circular()],
  ['what JSON cannot say', () => ({ ...GOOD, n: 1n })],
  ['an object that is text as JSON', () => ({ toJSON: () => 'text' })],
  ['a Map', () => new Map(Object.entries(GOOD))],
  ['an object of a class', () => Object.assign(new Row(), GOOD)],
  ['inherited claims', () => Object.create(GOOD)],
  ['resources of a class', () => ({ ...GOOD, resources: Object.assign(new Row(), { acme: [] }) })],
  ['an error', () => assert.fail('secret')],
  ['a rejection', () => Promise.reject(new Error('secret'))],
]

class Row {}

function circular(): object {
  const claims: Record<string, unknown> = { ...GOOD }
  claims['self'] = claims
  return claims
}

for (const [what, answer] of NO_ANSWERS) {
  test(`a function that answers ${what} gives 503`, async (t) => {
    const { app, log } = await start(t, answer)
    assertRefused(await get(app, 'key-1'), 'ERR_AUTH_INTROSPECTION_UNAVAILABLE')
    assert.equal(/secret|key-1/.test(JSON.stringify(log.lines('request refused'))), false)
  })
}

test('null is 401, kept for two seconds, and never beyond', async (t) => {
  let answer: object | null = null
  const { app, asked, pass } = await start(t, () => answer)
  assertRefused(await get(app, 'key'), 'ERR_AUTH_TOKEN_INVALID')
  answer = GOOD
  pass(1.9)
  assertRefused(await get(app, 'key'), 'ERR_AUTH_TOKEN_INVALID')
  assert.deepEqual(asked(), ['key'])
  pass(0.1)
  assert.equal((await get(app, 'key')).statusCode, 200)
})

test('after forget each token is asked for anew, good or bad', async (t) => {
  const answers = new Map([['good', GOOD]])
  const { app, asked } = await start(t, (token) => answers.get(token) ?? null)
  assert.equal((await get(app, 'good')).statusCode, 200)
  assertRefused(await get(app, 'new'), 'ERR_AUTH_TOKEN_INVALID')
  asked()
  answers.set('new', GOOD)
  answers.delete('good')
  app.authService.forget({ issuer: iss, sub: 'machine' })
  assert.equal((await get(app, 'new')).statusCode, 200)
  assertRefused(await get(app, 'good'), 'ERR_AUTH_TOKEN_INVALID')
  assert.deepEqual(asked(), ['new', 'good'])
})

test('an answer that was on its way when something was forgotten is not kept', async (t) => {
  const open: ((answer: unknown) => void)[] = []
  const { app, asked } = await start(t, () => new Promise((resolve) => open.push(resolve)))
  const before = get(app, 'key')
  await new Promise(setImmediate)
  app.authService.forget()
  open[0]?.(GOOD)
  assert.equal((await before).statusCode, 200)
  const later = get(app, 'key')
  await new Promise(setImmediate)
  open[1]?.(null)
  assertRefused(await later, 'ERR_AUTH_TOKEN_INVALID')
  assert.equal(asked().length, 2)
})

test('a good answer is never served beyond its time, when the function fails too', async (t) => {
  let isDown = false
  const { app, pass } = await start(t, () => (isDown ? assert.fail('down') : GOOD))
  assert.equal((await get(app, 'key')).statusCode, 200)
  isDown = true
  pass(30)
  assertRefused(await get(app, 'key'), 'ERR_AUTH_INTROSPECTION_UNAVAILABLE')
})

test('tokens with one ending are each kept', async (t) => {
  const { app, asked } = await start(t, async () => GOOD)
  const keys = ['a', 'b', 'c'].map((name) => `${name}${'-of-the-same-house'.repeat(20)}`)
  for (const key of [...keys, ...keys]) assert.equal((await get(app, key)).statusCode, 200)
  assert.deepEqual(asked(), keys)
})

test('what is a JWT is never sent out, good or bad', async (t) => {
  const { app, asked } = await start(t, () => GOOD)
  const good = await authority.token()
  const [header, payload, signature] = partsOf(good)
  const stranger = await createTestAuthority()
  const tokens = [
    await authority.token({}, { expiresIn: -60 }),
    await stranger.token(),
    `${header}.${payload}.`,
    `${header}=.${payload}.${signature}`,
    `${header}.${payload}=.${signature}`,
    `${header}.${payload}.${signature}=`,
    `${header}.x.y`,
  ]
  for (const token of tokens) assertRefused(await get(app, token), 'ERR_AUTH_TOKEN_INVALID')
  assert.equal((await get(app, good, '/me')).statusCode, 200)
  assert.deepEqual(asked(), [])
})

test('tokens that are too long, or of other characters, never leave the process', async (t) => {
  const { app, asked } = await start(t, () => GOOD, { maxTokenLength: 100 })
  for (const token of ['a'.repeat(101), 'a b', 'a"b', 'a=b', 'a,b', '{}']) {
    assertRefused(await get(app, token), 'ERR_AUTH_TOKEN_INVALID')
  }
  assert.equal((await get(app, 'a'.repeat(100))).statusCode, 200)
  assert.equal((await get(app, 'AZaz09-._~+/==')).statusCode, 200)
  assert.equal(asked().length, 2)
})

test('without the option what is no JWT is 401', async (t) => {
  const app = await guardedApp(t)
  app.get('/t/:tenant', async () => 'ok')
  assertRefused(await get(app, 'key'), 'ERR_AUTH_TOKEN_INVALID')
})

test('isRevoked receives the claims of an opaque token', async (t) => {
  const seen: unknown[] = []
  const isRevoked = (_userInfo: unknown, token: { sub: string | null; expiresAt: Date | null }) => {
    seen.push([token.sub, token.expiresAt])
    return token.sub === 'bad'
  }
  const { app } = await start(t, (token) => ({ ...GOOD, sub: token }), { isRevoked })
  assert.equal((await get(app, 'good')).statusCode, 200)
  assertRefused(await get(app, 'bad'), 'ERR_AUTH_TOKEN_INVALID')
  assert.deepEqual(seen, [
    ['good', null],
    ['bad', null],
  ])
})

test('what the function does to its answer later changes nothing', async (t) => {
  const shared = structuredClone(GOOD)
  const { app } = await start(t, () => shared)
  assert.equal((await get(app, 'key')).statusCode, 200)
  Object.assign(shared.resources, { other: [] })
  assert.deepEqual((await get(app, 'key', '/me')).json().tenants, ['acme'])
  assert.equal(Object.isFrozen(shared.resources), false)
})

test('a good token whose question has failed once is not shut out by invented ones', async (t) => {
  let isFailing = false
  const { app, pass } = await start(t, (token) => {
    if (token !== 'key') return new Promise(() => {})
    if (isFailing) throw new Error('away')
    return GOOD
  })
  assert.equal((await get(app, 'key')).statusCode, 200)
  pass(31)
  isFailing = true
  assertRefused(await get(app, 'key'), 'ERR_AUTH_INTROSPECTION_UNAVAILABLE')
  isFailing = false
  const strangers = Array.from({ length: 1100 }, (_, i) => get(app, `invented-${i}`))
  await new Promise(setImmediate)
  assert.equal((await get(app, 'key')).statusCode, 200)
  await app.close()
  await Promise.all(strangers)
})

for (const [name, refusal] of [
  ['is not known any more', null],
  ['has expired', { ...GOOD, exp: 1 }],
  ['stands for a JWT that has expired', await authority.token({}, { expiresIn: -100 })],
] as const) {
  test(`a good token that ${name} stands in the line of invented ones`, async (t) => {
    let answer: object | string | null = GOOD
    const { app, pass } = await start(t, (token) =>
      token === 'key' ? answer : new Promise(() => {}),
    )
    assert.equal((await get(app, 'key')).statusCode, 200)
    pass(31)
    answer = refusal
    assertRefused(await get(app, 'key'), 'ERR_AUTH_TOKEN_INVALID')
    pass(3)
    answer = GOOD
    const strangers = Array.from({ length: 1100 }, (_, i) => get(app, `invented-${i}`))
    await new Promise(setImmediate)
    assertRefused(await get(app, 'key'), 'ERR_AUTH_INTROSPECTION_UNAVAILABLE')
    await app.close()
    await Promise.all(strangers)
  })
}

test('30 000 invented tokens leave the good one known, and the memory as it was', async () => {
  let asked = 0
  const opaqueToken = (token: string) => {
    asked += 1
    return token === 'good' ? GOOD : null
  }
  const authenticator = standaloneAuthenticator(trusting({ opaqueToken, opaqueMaxAge: 3600 }))
  authenticator.open()
  const ask = (token: string) => principalOf(authenticator, `Bearer ${token}`)
  const invent = (count: number) => {
    for (let i = 0; i < count; i++) {
      assert.throws(() => ask(`${asked}-${'x'.repeat(1000)}`), { code: 'ERR_AUTH_TOKEN_INVALID' })
    }
  }
  const known = ask('good')
  invent(2000)
  const before = await settledHeap()
  invent(28_000)
  const grown = (await settledHeap()) - before
  assert.ok(grown < 5_000_000, `grown by ${grown} bytes`)
  assert.equal(ask('good'), known)
  assert.equal(asked, 30_001)
  authenticator.close()
})
