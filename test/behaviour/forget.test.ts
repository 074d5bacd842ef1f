import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import tenantAuth, { type AuthOptions, signalOf } from '../../lib/index.ts'
import { as, authority, bareApp, guardedApp, trusting } from '../helpers/app/guarded-app.ts'
import { heard } from '../helpers/app/heard.ts'
import { outcome } from '../helpers/app/refusals.ts'
import { until } from '../helpers/processes/until.ts'
import { json, tenantServer } from '../helpers/servers/tenant-server.ts'

const { issuer: iss, audience: aud } = authority
const BEARER = (token: string) => ({ authorization: `Bearer ${token}` })

async function start(t: TestContext, options: AuthOptions): Promise<FastifyInstance> {
  const app = await guardedApp(t, options)
  app.get('/t/:tenant', async () => 'ok')
  await app.ready()
  return app
}

const get = async (app: FastifyInstance, headers: object, tenant = 'acme') =>
  outcome(await app.inject({ url: `/t/${tenant}`, headers: { ...headers } }))

/** An application whose opaque tokens are the names of their users. */
async function opaque(t: TestContext, answer?: (sub: string) => unknown) {
  const asked: string[] = []
  const app = await start(t, {
    opaqueToken: async (token) => {
      asked.push(token)
      await answer?.(token)
      const issued = token === 'bob' ? { iss: 'https://other.test' } : { iss }
      return { ...issued, aud, sub: token, resources: { acme: [] } }
    },
    issuer: [iss, 'https://other.test'],
  })
  return { app, ask: (token: string) => get(app, BEARER(token)), asked: () => asked.splice(0) }
}

const FORGOTTEN: readonly [what: object | undefined, asked: readonly string[]][] = [
  [{ sub: 'alice' }, ['alice']],
  [{ issuer: iss, sub: 'alice' }, ['alice']],
  [{ issuer: 'https://other.test', sub: 'alice' }, []],
  [{ issuer: iss }, ['alice', 'carol']],
  [{ issuer: 'https://other.test' }, ['bob']],
  [{ issuer: null }, []],
  [{ tenant: 'acme' }, []],
  [undefined, ['alice', 'bob', 'carol']],
]

for (const [what, expected] of FORGOTTEN) {
  test(`forget(${JSON.stringify(what)}) ends the opaque tokens that fit, and no others`, async (t) => {
    const { app, ask, asked } = await opaque(t)
    const users = ['alice', 'bob', 'carol']
    const jwt = await authority.headers({ sub: 'alice', resources: { acme: [] } })
    assert.equal(await get(app, jwt), '200')
    for (const user of users) assert.equal(await ask(user), '200')
    asked()
    app.authService.forget(what)
    const { misses } = app.authService.stats().tokenCache
    assert.equal(await get(app, jwt), '200')
    assert.equal(app.authService.stats().tokenCache.misses, misses, 'a JWT stays known')
    for (const user of users) assert.equal(await ask(user), '200')
    assert.deepEqual(asked(), expected)
  })
}

for (const [who, isKept] of [
  ['alice', false],
  ['bob', true],
] as const) {
  test(`an answer of alice that is on its way when ${who} is forgotten is ${isKept ? '' : 'not '}kept`, async (t) => {
    let answer = (): void => {}
    const isAsked = new Promise<void>((note) => {
      const given = new Promise<void>((resolve) => {
        answer = resolve
      })
      void opaque(t, () => {
        note()
        return given
      }).then((app) => {
        started = app
        first = app.ask('alice')
      })
    })
    let started: Awaited<ReturnType<typeof opaque>> | undefined
    let first: Promise<string> | undefined
    await isAsked
    const { app, ask, asked } = started ?? assert.fail('it has started')
    app.authService.forget({ sub: who })
    answer()
    assert.equal(await first, '200')
    assert.equal(await ask('alice'), '200')
    assert.deepEqual(asked(), isKept ? ['alice'] : ['alice', 'alice'])
  })
}

test('forget of the user as resourcesOf got it makes a change count, without an issuer too', async (t) => {
  let rights: object = { acme: [] }
  const users: { issuer: string | null; sub: string }[] = []
  const { issuer: _, ...options } = trusting({
    resourcesOf: async (user): Promise<never> => {
      users.push(user)
      return rights as never
    },
  })
  const app = bareApp(t)
  await app.register(tenantAuth, options)
  app.get('/t/:tenant', async () => 'ok')
  const headers = await authority.headers({ sub: 'alice', iss: undefined })
  assert.equal(await get(app, headers), '200')
  const [user] = users
  assert.equal(user?.issuer, null)
  rights = {}
  app.authService.forget({ issuer: iss, sub: user.sub })
  assert.equal(await get(app, headers), '200', 'another user')
  app.authService.forget(user)
  assert.equal(await get(app, headers), '403 ERR_AUTH_TENANT_FORBIDDEN')
})

for (const what of [undefined, { tenant: 'acme' }]) {
  test(`forget(${JSON.stringify(what)}) ends what a function has said of a tenant`, async (t) => {
    let exists = true
    const app = await start(t, { tenants: async () => exists })
    const headers = await as({ acme: [], 'lazy-raccoon': [] })
    for (const tenant of ['acme', 'lazy-raccoon']) {
      assert.equal(await get(app, headers, tenant), '200')
    }
    exists = false
    for (const others of [{ issuer: iss }, { sub: 'test-user' }, { tenant: 'quiet-otter' }]) {
      app.authService.forget(others)
      assert.equal(await get(app, headers), '200')
    }
    app.authService.forget(what)
    assert.equal(await get(app, headers), '404 ERR_AUTH_TENANT_UNKNOWN')
    const rest = what && 'tenant' in what ? '200' : '404 ERR_AUTH_TENANT_UNKNOWN'
    assert.equal(await get(app, headers, 'lazy-raccoon'), rest)
  })
}

test('forget() ends what a list at an address has said', async (t) => {
  const server = await tenantServer('["acme"]')
  const app = await start(t, { tenants: server.url })
  const headers = await as({ acme: [] })
  assert.equal(await get(app, headers), '200')
  server.answer = json('[]')
  assert.equal(await get(app, headers), '200')
  app.authService.forget({ tenant: 'acme' })
  assert.equal(await get(app, headers), '404 ERR_AUTH_TENANT_UNKNOWN')
})

test('an object without members means everybody, and what tenants has said', async (t) => {
  let isThere = true
  const app = await start(t, { tenants: async () => isThere })
  const headers = await as({ acme: [] })
  assert.equal(await get(app, headers), '200')
  isThere = false
  app.authService.forget({})
  assert.equal(await get(app, headers), '404 ERR_AUTH_TENANT_UNKNOWN')
})

test('a list that was forgotten and cannot be had again is none', async (t) => {
  const server = await tenantServer('["acme"]')
  const changes = heard(t, 'document')
  const app = await start(t, { tenants: server.url })
  assert.equal(await get(app, await as({ acme: [] })), '200')
  server.answer = (response) => void response.writeHead(500).end()
  app.authService.forget({ tenant: 'acme' })
  assert.equal(await get(app, await as({ acme: [] })), '503 ERR_AUTH_TENANTS_UNAVAILABLE')
  const list = app.authService.stats().documents.find(({ kind }) => kind === 'tenants')
  assert.deepEqual([list?.state, list?.age], ['none', null])
  assert.deepEqual(
    changes.map(({ event }) => event),
    ['fetched', 'gone', 'failed'],
  )
})

test('a list that is forgotten again during each load lets in those who wait for it', async (t) => {
  const server = await tenantServer('["acme"]')
  const app = await start(t, { tenants: server.url })
  const headers = await as({ acme: [] })
  server.answer = (response) => {
    app.authService.forget({ tenant: 'other' })
    json('["acme"]')(response)
  }
  app.authService.forget({ tenant: 'other' })
  for (let count = 0; count < 5; count++) assert.equal(await get(app, headers), '200')
  server.answer = json('[]')
  app.authService.forget({ tenant: 'acme' })
  assert.equal(await get(app, headers), '404 ERR_AUTH_TENANT_UNKNOWN')
  const { count } = server
  assert.equal(await get(app, headers), '404 ERR_AUTH_TENANT_UNKNOWN')
  assert.equal(server.count, count)
})

test('a logout route does not fail in dev mode, where no user has an issuer', async (t) => {
  const app = await guardedApp(t, { devMode: true, tenants: ['default'] })
  app.post('/logout', { config: { authorization: true } }, async ({ authorization }) => {
    const { issuer, userInfo } = authorization
    app.authService.forget({ issuer, sub: userInfo.sub })
    app.authService.forget({ tenant: 'default' })
    return 'bye'
  })
  assert.equal((await app.inject({ method: 'POST', url: '/logout' })).body, 'bye')
})

class User {
  get sub() {
    return 's'
  }
}

const MISTAKES: [what: string, given: unknown][] = [
  ['an object with a symbol alone', { [Symbol('sub')]: 's' }],
  ['a tenant that is undefined', { tenant: undefined }],
  ['an issuer that is undefined', { issuer: undefined }],
  ['a sub that is undefined', { issuer: 'i', sub: undefined }],
  ['a sub that is null', { sub: null }],
  ['a sub that is a number', { sub: 5 }],
  ['a member that is misspelt', { subject: 's' }],
  ['a member that is not enumerable', Object.defineProperty({}, 'sub', { value: 's' })],
  ['a getter of its own', Object.defineProperty({}, 'sub', { enumerable: true, get: () => 's' })],
  ['a tenant that is null', { tenant: null }],
  ['a tenant beside an issuer', { tenant: 't', issuer: 'i' }],
  ['a tenant beside a sub', { tenant: 't', sub: 's' }],
  ['a member that every object has', { constructor: 's' }],
  ['an inherited tenant', Object.create({ tenant: 't' })],
  [
    'an inherited tenant without more',
    Object.create(Object.assign(Object.create(null), { issuer: 'i' })),
  ],
  [
    'an inherited sub beside an issuer',
    Object.assign(Object.create({ sub: 's' }), { issuer: 'i' }),
  ],
  ['an object with getters of its class', new User()],
  ['a Map', new Map([['sub', 's']])],
  ['null', null],
  ['a string', 'i'],
  ['a number', 5],
  ['true', true],
  ['a list', ['i']],
]

test('what cannot be meant is a TypeError, and does not mean everybody', async (t) => {
  const { authService } = await start(t, {})
  for (const [what, given] of MISTAKES) {
    assert.throws(() => Reflect.apply(authService.forget, authService, [given]), TypeError, what)
  }
})

test('a state that was asked for before forget({ tenant }), and comes after it, ends no signal', async (t) => {
  const answers: ((state: true | 'suspended') => void)[] = []
  const tenants = () => new Promise<true | 'suspended'>((resolve) => void answers.push(resolve))
  const app = await guardedApp(t, { tenants, tenantsMaxAge: 0 })
  const signals: AbortSignal[] = []
  let goOn = (): void => {}
  const isFree = new Promise<void>((resolve) => {
    goOn = resolve
  })
  app.get('/hold/:tenant', async (request) => {
    signals.push(signalOf(request))
    await isFree
    return 'x'
  })
  app.get('/t/:tenant', async () => 'ok')
  const headers = await as({ acme: [] })
  const asking = async (url: string) => {
    const verdict = app.inject({ url, headers }).then(outcome)
    await until(() => answers.length > 0)
    return { verdict, answer: answers.splice(0)[0] ?? assert.fail('nothing was asked') }
  }
  const held = await asking('/hold/acme')
  held.answer(true)
  await until(() => signals.length > 0)
  const before = await asking('/t/acme')
  app.authService.forget({ tenant: 'acme' })
  const after = await asking('/t/acme')
  after.answer(true)
  assert.equal(await after.verdict, '200')
  before.answer('suspended')
  assert.equal(await before.verdict, '403 ERR_AUTH_TENANT_SUSPENDED')
  assert.equal(signals[0]?.aborted, false)
  const last = await asking('/t/acme')
  last.answer('suspended')
  await last.verdict
  assert.equal(signals[0]?.aborted, true)
  goOn()
  assert.equal(await held.verdict, '200')
})
