import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { createTestAuthority, type TestUserInfo } from '../../lib/entrypoints/testing/index.ts'
import tenantAuth, { type TokenUser } from '../../lib/index.ts'
import { askedApp } from '../helpers/app/asked-app.ts'
import { authority, bareApp, trusting } from '../helpers/app/guarded-app.ts'
import { assertRefused } from '../helpers/app/refusals.ts'
import { principalOf, standaloneAuthenticator } from '../helpers/tokens/standalone-authenticator.ts'

const { issuer: iss, audience: aud } = authority

const start = (t: TestContext, answer: (user: TokenUser) => unknown, more: object = {}) =>
  askedApp(t, 'resourcesOf', answer, more)

const LONG = { expiresIn: 3600 }

/** Headers of a user whose token grants everything, which must not count. */
const as = async (claims: TestUserInfo = {}, by = authority) =>
  by.headers(
    { sub: 'alice', resources: { '*': ['menu:read'], stale: ['menu:read'] }, ...claims },
    LONG,
  )

const get = async (app: FastifyInstance, headers: { authorization: string }, url = '/needs/acme') =>
  app.inject({ url, headers })

const READER = { acme: ['menu:read'] }

test('the application returns the rights, and those of the token do not count', async (t) => {
  const { app, asked } = await start(t, async () => READER)
  const alice = await as()
  assert.equal((await get(app, alice)).statusCode, 200)
  assertRefused(await get(app, alice, '/needs/stale'), 'ERR_AUTH_TENANT_FORBIDDEN')
  const me = (await get(app, alice, '/me')).json()
  assert.deepEqual([me.userInfo.resources, me.tenants, me.resources], [READER, ['acme'], []])
  assert.deepEqual([me.userInfo.sub, me.userInfo.iss], ['alice', iss])
  assert.deepEqual(asked(), [{ issuer: iss, sub: 'alice' }])
})

test('a user that the application does not know has no rights, for two seconds', async (t) => {
  let answer: object | null = null
  const { app, asked, pass, log } = await start(t, () => answer)
  const alice = await as()
  for (const _ of [1, 2]) assertRefused(await get(app, alice), 'ERR_AUTH_TENANT_FORBIDDEN')
  const [refused] = log.lines('request refused')
  assert.match(String(refused?.['reason']), /: resourcesOf does not know the user$/)
  const me = (await get(app, alice, '/me')).json()
  assert.deepEqual([me.tenants, 'resources' in me.userInfo], [[], false])
  assert.equal(asked().length, 1)
  answer = READER
  pass(1.999)
  assertRefused(await get(app, alice), 'ERR_AUTH_TENANT_FORBIDDEN')
  pass(0.001)
  // A refusal would be asked anew by then. This is none.
  assert.deepEqual((await get(app, alice, '/me')).json().tenants, Object.keys(READER))
  assert.equal((await get(app, alice)).statusCode, 200)
  assert.equal(asked().length, 1)
})

for (const [what, named] of [
  ['two issuers in one entry', { issuer: [iss, 'https://other.test'] }],
  ['any issuer', {}],
] as const) {
  test(`of ${what} the users of one have half of the places`, async (t) => {
    const given = { publicKeys: authority.publicKeys, audience: aud, ...named }
    const { app, asked } = await start(t, () => new Promise(() => {}), given)
    const users = Array.from({ length: 70 }, (_, i) => `user-${i}`)
    const others = ['https://other.test', iss].map((by) => users.map((sub) => as({ sub, iss: by })))
    for (const tokens of others) {
      const waiting = (await Promise.all(tokens)).map((token) => get(app, token))
      for (const each of waiting) each.catch(() => {})
      await new Promise(setImmediate)
      assert.equal(asked().length, 32)
    }
  })
}

test('500 first requests ask once, and a steady user once in resourcesMaxAge', async (t) => {
  const { app, asked, pass } = await start(t, async () => READER)
  const tokens = await Promise.all(Array.from({ length: 5 }, (_, i) => as({ jti: `${i}` })))
  const all = Array.from({ length: 100 }, () => tokens).flat()
  const responses = await Promise.all(all.map((token) => get(app, token)))
  assert.equal(responses.length, 500)
  const found = responses.every(({ statusCode }) => statusCode === 200)
  assert.equal(found, true)
  assert.equal(asked().length, 1)
  const [alice = await as()] = tokens
  for (let second = 0; second < 90; second++) {
    assert.equal((await get(app, alice)).statusCode, 200)
    pass(1)
  }
  assert.equal(asked().length, 2, 'at 30 and at 60 seconds')
})

test('an answer is as old as its question', async (t) => {
  const open: ((answer: unknown) => void)[] = []
  const { app, asked, pass } = await start(t, () => new Promise((resolve) => open.push(resolve)))
  const alice = await as()
  const first = get(app, alice)
  await new Promise(setImmediate)
  pass(4)
  open[0]?.(READER)
  assert.equal((await first).statusCode, 200)
  pass(25.999)
  assert.equal((await get(app, alice)).statusCode, 200)
  assert.equal(asked().length, 1)
  pass(0.001)
  const later = get(app, alice)
  await new Promise(setImmediate)
  open[1]?.({})
  assertRefused(await later, 'ERR_AUTH_TENANT_FORBIDDEN')
})

const MALFORMED: [what: string, answer: () => unknown][] = [
  ['nothing', () => undefined],
  ['true', () => true],
  ['text', () => 'menu:read'],
  ['a list', () => [['acme', ['menu:read']]]],
  ['a text in the place of ids', () => ({ acme: 'menu:read' })],
  ['a Set in the place of ids', () => ({ acme: new Set(['menu:read']) })],
  ['null in the place of ids', () => ({ acme: null })],
  ['an id that is no text', () => ({ acme: ['menu:read', 1] })],
  [
    'a getter that throws',
    () => ({
      ...READER,
      get other() {
        return assert.fail('secret')
      },
    }),
  ],
]

for (const [what, answer] of MALFORMED) {
  test(`a function that answers ${what} gives 503, and never an old right`, async (t) => {
    let given = (): unknown => READER
    const { app, pass, log } = await start(t, () => given())
    const alice = await as()
    assert.equal((await get(app, alice)).statusCode, 200)
    given = answer
    pass(29.999)
    assert.equal((await get(app, alice)).statusCode, 200)
    pass(0.001)
    for (const _ of [1, 2]) {
      assertRefused(await get(app, alice), 'ERR_AUTH_RESOURCES_UNAVAILABLE')
    }
    assert.equal(/secret/.test(JSON.stringify(log.lines('request refused'))), false)
    given = () => READER
    assert.equal((await get(app, alice)).statusCode, 200)
  })
}

test('names that objects have, and *, count as they do in the claim', async (t) => {
  const rights = '{"__proto__":["a:b"],"constructor":[],"*":["menu:read"]}'
  const { app } = await start(t, () => JSON.parse(rights))
  const alice = await as()
  for (const [url, status] of [
    ['/needs/__proto__', 200],
    ['/needs/constructor', 200],
    ['/needs/toString', 403],
    ['/needs/acme', 403],
  ] as const) {
    assert.equal((await get(app, alice, url)).statusCode, status, url)
  }
  const { body } = await get(app, alice, '/me')
  assert.equal(body.includes(`"resources":${rights}`), true, body)
})

test('a user may have 10 000 tenants', async (t) => {
  const names = Array.from({ length: 10_000 }, (_, i) => `tenant-${i}`)
  const all = Object.fromEntries(names.map((name) => [name, ['menu:read']]))
  const { app, asked } = await start(t, () => all)
  const alice = await as()
  for (const name of [names[0], names[9999], ...names.slice(0, 9)]) {
    assert.equal((await get(app, alice, `/needs/${name}`)).statusCode, 200)
  }
  assert.equal((await get(app, alice, '/me')).json().tenants.length, 10_000)
  assert.equal(asked().length, 1)
})

test('what the application does to its answer later changes nothing', async (t) => {
  const shared: Record<string, string[]> = { acme: ['menu:read'] }
  const { app } = await start(t, () => shared)
  const alice = await as()
  assert.equal((await get(app, alice)).statusCode, 200)
  shared['other'] = ['menu:read']
  shared['acme']?.pop()
  assert.equal((await get(app, alice)).statusCode, 200)
  assertRefused(await get(app, alice, '/needs/other'), 'ERR_AUTH_TENANT_FORBIDDEN')
  assert.equal(Object.isFrozen(shared), false)
})

test('a superuser is one by the application alone', async (t) => {
  const superuserResource = 'authz:superuser'
  const grants = new Map([['root', { '*': [superuserResource] }]])
  const { app } = await start(t, ({ sub }) => grants.get(sub) ?? {}, { superuserResource })
  assert.equal((await get(app, await as({ sub: 'root', resources: {} }))).statusCode, 200)
  const forged = await as({ resources: { '*': [superuserResource] } })
  assertRefused(await get(app, forged), 'ERR_AUTH_TENANT_FORBIDDEN')
})

const other = await createTestAuthority({ issuer: 'https://b.test', audience: aud })

test('two issuers with one sub are two users, each with the pin of its issuer', async (t) => {
  const issuers = [
    authority.issuerRules({ tenants: ['acme', 'both'] }),
    other.issuerRules({ tenants: '*' }),
  ]
  const superuserResource = 'authz:superuser'
  const everywhere = { '*': ['menu:read', superuserResource], acme: [], free: [] }
  const grants = new Map<string, object>([
    [iss, everywhere],
    [other.issuer, { free: ['menu:read'] }],
  ])
  const more = { issuers, superuserResource }
  const { app, asked } = await start(t, ({ issuer }) => grants.get(issuer ?? '') ?? null, more)
  const [pinned, free] = [await as(), await as({}, other)]
  assert.equal((await get(app, pinned)).statusCode, 200)
  assertRefused(await get(app, pinned, '/needs/free'), 'ERR_AUTH_TENANT_FORBIDDEN')
  assertRefused(await get(app, pinned, '/needs/both'), 'ERR_AUTH_TENANT_FORBIDDEN')
  const me = (await get(app, pinned, '/me')).json()
  assert.deepEqual(me.userInfo.resources, { acme: ['menu:read', superuserResource] })
  assert.equal((await get(app, free, '/needs/free')).statusCode, 200)
  assertRefused(await get(app, free), 'ERR_AUTH_TENANT_FORBIDDEN')
  assert.deepEqual(asked(), [
    { issuer: iss, sub: 'alice' },
    { issuer: other.issuer, sub: 'alice' },
  ])
})

test('an issuer that is pinned in another way since has the rights of the new pin', async (t) => {
  let tenants = ['acme']
  const issuers = () => authority.issuerRules({ tenants })
  const everywhere = { '*': ['menu:read'], acme: [], busy: [] }
  const { app, asked } = await start(t, () => everywhere, { issuers, resourcesMaxAge: 1000 })
  const alice = await as()
  assert.equal((await get(app, alice)).statusCode, 200)
  assertRefused(await get(app, alice, '/needs/busy'), 'ERR_AUTH_TENANT_FORBIDDEN')
  tenants = ['busy']
  app.authService.forget({ issuer: 'https://other.test' })
  assert.equal((await get(app, alice)).statusCode, 200)
  app.authService.forget({ issuer: iss })
  assertRefused(await get(app, alice), 'ERR_AUTH_TENANT_FORBIDDEN')
  assert.equal((await get(app, alice, '/needs/busy')).statusCode, 200)
  assert.equal(asked().length, 2)
})

test('a token without iss asks for an issuer of null', async (t) => {
  const asked: TokenUser[] = []
  const app = bareApp(t)
  await app.register(tenantAuth, {
    publicKeys: authority.publicKeys,
    resourcesOf: (user) => {
      asked.push(user)
      return READER
    },
  })
  app.get('/needs/:tenant', async () => 'ok')
  const headers = await authority.headers({ sub: 'alice', iss: undefined })
  assert.equal((await get(app, headers)).statusCode, 200)
  app.authService.forget({ issuer: 'null' })
  assert.equal((await get(app, headers)).statusCode, 200)
  app.authService.forget({ sub: 'alice' })
  assert.equal((await get(app, headers)).statusCode, 200)
  assert.deepEqual(asked, Array(2).fill({ issuer: null, sub: 'alice' }))
})

test('the user is the one of the token, whatever mapClaims makes of it', async (t) => {
  const mapClaims = () => ({ sub: 'mapped', resources: { stale: [] } })
  const { app, asked } = await start(t, () => READER, { mapClaims })
  const me = (await get(app, await as(), '/me')).json()
  assert.deepEqual(me.userInfo, { sub: 'mapped', resources: READER })
  assert.deepEqual(asked(), [{ issuer: iss, sub: 'alice' }])
})

const NAMELESS: object[] = [{ sub: '' }, { sub: undefined }, { sub: 7 }, { sub: 'a\ud800' }]

for (const claims of NAMELESS) {
  test(`a token with ${JSON.stringify(claims)} names no user, even with mapClaims`, async (t) => {
    const { app, asked } = await start(t, () => READER, { mapClaims: () => ({ sub: 'mapped' }) })
    assertRefused(await get(app, await as({ ...claims })), 'ERR_AUTH_TOKEN_INVALID')
    assert.deepEqual(asked(), [])
  })
}

test('opaque tokens have the rights that the application returns', async (t) => {
  const opaqueToken = () => ({ iss, aud, sub: 'machine', resources: { stale: ['menu:read'] } })
  const { app, asked, pass } = await start(t, () => READER, { opaqueToken, resourcesMaxAge: 100 })
  const key = { authorization: 'Bearer key-1' }
  assert.equal((await get(app, key)).statusCode, 200)
  assertRefused(await get(app, key, '/needs/stale'), 'ERR_AUTH_TENANT_FORBIDDEN')
  pass(50)
  assert.equal((await get(app, key)).statusCode, 200)
  assert.deepEqual(asked(), [{ issuer: iss, sub: 'machine' }])
})

test('isRevoked receives the rights that count', async (t) => {
  const seen: unknown[] = []
  const isRevoked = ({ resources }: { resources?: unknown }) => {
    seen.push(resources)
    return false
  }
  const { app } = await start(t, async () => READER, { isRevoked })
  assert.equal((await get(app, await as())).statusCode, 200)
  assert.deepEqual(seen, [READER])
})

const FORGOTTEN: [
  what: string,
  forgotten: object | undefined,
  taken: [a: boolean, b: boolean, bob: boolean],
][] = [
  ['one user', { issuer: iss, sub: 'alice' }, [true, false, false]],
  ['a sub of all issuers', { sub: 'alice' }, [true, true, false]],
  ['all users of an issuer', { issuer: iss }, [true, false, true]],
  ['everybody', undefined, [true, true, true]],
  ['a stranger', { issuer: iss, sub: 'ALICE' }, [false, false, false]],
  ['the end of a name', { sub: 'lice' }, [false, false, false]],
  ['the beginning of an issuer', { issuer: iss.slice(0, -1) }, [false, false, false]],
]

for (const [what, forgotten, taken] of FORGOTTEN) {
  test(`after forget of ${what} a right that was taken away counts no more`, async (t) => {
    let rights: object | null = READER
    const issuers = [authority.issuerRules({ tenants: '*' }), other.issuerRules({ tenants: '*' })]
    const { app } = await start(t, async () => rights, { issuers })
    const users = [await as(), await as({}, other), await as({ sub: 'bob' })]
    const outcomes = async () =>
      Promise.all(users.map(async (user) => (await get(app, user)).statusCode === 403))
    assert.deepEqual(await outcomes(), [false, false, false])
    rights = {}
    app.authService.forget(forgotten)
    assert.deepEqual(await outcomes(), taken)
  })
}

test('a user that was not known counts at the next request after forget', async (t) => {
  let rights: object | null = null
  const { app } = await start(t, () => rights)
  const alice = await as()
  assertRefused(await get(app, alice), 'ERR_AUTH_TENANT_FORBIDDEN')
  rights = READER
  app.authService.forget({ sub: 'alice' })
  assert.equal((await get(app, alice)).statusCode, 200)
})

test('an answer that was on its way when its user was forgotten is not kept', async (t) => {
  const open: ((answer: unknown) => void)[] = []
  const { app, asked } = await start(t, () => new Promise((resolve) => open.push(resolve)))
  const [alice, bob] = [await as(), await as({ sub: 'bob' })]
  const before = [get(app, alice), get(app, bob)]
  await new Promise(setImmediate)
  app.authService.forget({ sub: 'alice' })
  const after = [get(app, alice), get(app, bob)]
  await new Promise(setImmediate)
  open[2]?.({})
  const [later] = after
  assertRefused((await later) ?? assert.fail('asked'), 'ERR_AUTH_TENANT_FORBIDDEN')
  for (const answer of open.slice(0, 2)) answer(READER)
  for (const response of [...before, after[1]]) assert.equal((await response)?.statusCode, 200)
  assertRefused(await get(app, alice), 'ERR_AUTH_TENANT_FORBIDDEN')
  assert.equal((await get(app, bob)).statusCode, 200)
  const found = asked().map(({ sub }) => sub)
  assert.deepEqual(found, ['alice', 'bob', 'alice'])
})

test('64 users are asked for at once, forgotten ones too, and further ones wait', async (t) => {
  const open: (() => void)[] = []
  const answer = () => new Promise((resolve) => open.push(() => resolve(READER)))
  const { app, asked } = await start(t, answer)
  const users = await Promise.all(Array.from({ length: 70 }, (_, i) => as({ sub: `user-${i}` })))
  const first = users.slice(0, 64).map((user) => get(app, user))
  await new Promise(setImmediate)
  app.authService.forget()
  const later = users.slice(64).map((user) => get(app, user))
  await new Promise(setImmediate)
  assert.equal(asked().length, 64)
  for (const end of open) end()
  for (const response of await Promise.all(first)) assert.equal(response.statusCode, 200)
  for (const end of open) end()
  for (const response of await Promise.all(later)) assert.equal(response.statusCode, 200)
  assert.equal(asked().length, 6)
})

test('a known user costs no promise and no new object', async (t) => {
  const resourcesOf = t.mock.fn(async () => READER)
  const authenticator = standaloneAuthenticator(trusting({ resourcesOf }))
  authenticator.open()
  t.after(() => authenticator.close())
  const [one, two] = [await as(), await as({ jti: 'two' })]
  const verify = ({ authorization }: { authorization: string }) =>
    principalOf(authenticator, authorization)
  const principal = await verify(one)
  assert.equal(verify(one), principal)
  assert.equal((await principal).in('acme'), (await verify(one)).in('acme'))
  const another = verify(two)
  assert.equal(another instanceof Promise, false, 'another token of the same user')
  assert.notEqual(another, principal)
  assert.equal(resourcesOf.mock.callCount(), 1)
})

test('with a resourcesMaxAge of 0 each request asks', async (t) => {
  const { app, asked } = await start(t, async () => READER, { resourcesMaxAge: 0 })
  const alice = await as()
  for (const _ of [1, 2, 3]) assert.equal((await get(app, alice)).statusCode, 200)
  assert.equal(asked().length, 3)
})

test('dev mode asks nobody, and the mock user keeps its rights', async (t) => {
  const app = bareApp(t)
  await app.register(tenantAuth, { devMode: true, resourcesOf: () => assert.fail('asked') })
  app.get('/me', { config: { authorization: true } }, async ({ authorization }) => authorization)
  const { statusCode, body } = await app.inject('/me')
  assert.equal(statusCode, 200)
  assert.notDeepEqual(JSON.parse(body).userInfo.resources, undefined)
})
