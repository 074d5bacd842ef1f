import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { denyList } from '../../lib/entrypoints/revocation/index.ts'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import {
  type AuthOptions,
  AuthService,
  type Credentials,
  currentAuthorization,
  errors,
  type TenantState,
} from '../../lib/index.ts'
import { as, authority, bareApp, RIGHTS, trusting, untyped } from '../helpers/app/guarded-app.ts'
import { heard } from '../helpers/app/heard.ts'
import { logLines } from '../helpers/app/log-lines.ts'
import { holdTime } from '../helpers/processes/age-by-date.ts'
import { settledHeap } from '../helpers/processes/used-heap.ts'
import { askedServer } from '../helpers/servers/asked-server.ts'

async function start(t: TestContext, options: AuthOptions = {}) {
  const service = new AuthService(options.devMode ? options : trusting(options))
  const log = logLines()
  const app = bareApp(t, { logger: log.logger })
  await service.install(app)
  await app.ready()
  return { service, app, log, call: callsOf(service) }
}

/** The code of the refusal, or `admitted`. */
function callsOf(service: AuthService) {
  return async (given: object): Promise<string> => {
    try {
      const { authorization } = await service.authenticate(given as Credentials)
      return `admitted ${authorization.tenant}`
    } catch (error) {
      if (error instanceof errors.AuthError) return `${error.statusCode} ${error.code}`
      assert.ok(error instanceof TypeError, `neither of ours nor a TypeError: ${error}`)
      assert.match(error.message, /^authenticate\(\) (?:takes|is called)/)
      return 'TypeError'
    }
  }
}

const tokenOf = (resources: Record<string, string[]> = RIGHTS, more: object = {}) =>
  authority.token({ ...more, resources })

const INVALID = '401 ERR_AUTH_TOKEN_INVALID'
const token = await tokenOf()

const DECIDED: [what: string, given: object, expected: string][] = [
  ['no tenant', { token }, 'admitted null'],
  ['a tenant of null', { token, tenant: null }, 'admitted null'],
  ['a tenant', { token, tenant: 'lazy-raccoon' }, 'admitted lazy-raccoon'],
  ['a foreign tenant', { token, tenant: 'other' }, '403 ERR_AUTH_TENANT_FORBIDDEN'],
  ['a tenant that is gone', { token, tenant: 'quiet-otter' }, '404 ERR_AUTH_TENANT_UNKNOWN'],
  ['an empty tenant', { token, tenant: '' }, '400 ERR_AUTH_TENANT_INVALID'],
  ['the tenant *', { token, tenant: '*' }, '400 ERR_AUTH_TENANT_INVALID'],
  ['a tenant that is no text', { token, tenant: 7 }, '400 ERR_AUTH_TENANT_INVALID'],
  ['a name that objects have', { token, tenant: '__proto__' }, '403 ERR_AUTH_TENANT_FORBIDDEN'],
  ['a right', { token, tenant: 'lazy-raccoon', require: 'order:read' }, 'admitted lazy-raccoon'],
  ['a right everywhere', { token, require: ['menu:read'] }, 'admitted null'],
  [
    'a right of a tenant, without one',
    { token, require: 'order:read' },
    '403 ERR_AUTH_RESOURCE_MISSING',
  ],
  ['any right', { token, require: { any: ['a:b', 'menu:read'] } }, 'admitted null'],
  ['no requirement', { token, require: false }, 'admitted null'],
  ['an empty token', { token: '' }, '401 ERR_AUTH_TOKEN_MISSING'],
  ['a token that is none', { token: 'a b' }, INVALID],
  ['a scheme beside it', { token: `Bearer ${token}` }, INVALID],
  ['an expired token', { token: await authority.token({}, { expiresIn: -60 }) }, INVALID],
  ['a long token', { token: 'a'.repeat(100_000) }, INVALID],
]

for (const multitenancy of [true, false]) {
  test(`it decides as a route does, with multitenancy ${multitenancy}`, async (t) => {
    const tenants = ['lazy-raccoon', 'other']
    const { call, log } = await start(t, { multitenancy, tenants })
    const before = log.raw.length
    for (const [what, given, expected] of DECIDED) {
      assert.equal(await call(given), expected, what)
      assert.equal(await call(given), expected, `${what}, again`)
    }
    assert.equal(log.raw.length, before, 'no line of its own')
  })
}

const throwing = () => assert.fail('a trap')
const inherited = Object.create({ token })
class Given {
  token = token
}

const WRONG: [what: string, given: unknown][] = [
  ['nothing', undefined],
  ['null', null],
  ['a text', token],
  ['a list', [token]],
  ['no token', {}],
  ['a token of undefined', { token: undefined }],
  ['a token that is no string', { token: Buffer.from(token) }],
  ['a token of class String', { token: new String(token) }],
  ['a tenant of undefined', { token, tenant: undefined }],
  ['require of undefined', { token, require: undefined }],
  ['require of null', { token, require: null }],
  ['an empty require', { token, require: [] }],
  ['no id', { token, require: 'menu' }],
  ['any of nothing', { token, require: { any: [] } }],
  ['by', { token, require: { by: () => 'menu:read', among: ['menu:read'] } }],
  ['an unknown member', { token, tenantId: 'acme' }],
  ['a symbol', { token, [Symbol('tenant')]: 'acme' }],
  ['an inherited member', inherited],
  [
    'an inherited member beside an own one',
    Object.assign(Object.create({ tenant: 'x' }), { token }),
  ],
  ['an object of a class', new Given()],
  [
    'a getter',
    {
      get token() {
        return token
      },
    },
  ],
  ['a member that is not enumerable', Object.defineProperty({ token }, 'tenant', { value: 'x' })],
  ['a proxy that throws', new Proxy({ token }, { ownKeys: throwing })],
  ['a proxy that throws later', new Proxy({ token }, { getOwnPropertyDescriptor: throwing })],
  [
    'a revoked proxy',
    (() => {
      const { proxy, revoke } = Proxy.revocable({}, {})
      revoke()
      return proxy
    })(),
  ],
  ['a list that throws', { token, require: new Proxy(['a:b'], { get: throwing }) }],
  ['the members of a request', { headers: {}, token }],
]

for (const [what, given] of WRONG) {
  test(`${what} is a TypeError, which is rejected and no decision`, async (t) => {
    const events = heard(t, 'decision')
    const { service } = await start(t)
    const answer = service.authenticate(given as Credentials)
    await assert.rejects(answer, TypeError)
    assert.deepEqual([events, service.stats().decisions.admitted], [[], 0])
  })
}

test('what Object.prototype lends is not read', async (t) => {
  Object.defineProperty(Object.prototype, 'tenant', { value: 'other', configurable: true })
  t.after(() => Reflect.deleteProperty(Object.prototype, 'tenant'))
  const { call } = await start(t)
  assert.equal(await call({ token }), 'admitted null')
})

test('before the first install it is a TypeError, and after the last close 503', async (t) => {
  const service = new AuthService(trusting())
  const call = callsOf(service)
  assert.equal(await call({ token }), 'TypeError')
  service.close()
  assert.equal(await call({ token }), 'TypeError', 'nothing was open')
  const apps = [bareApp(t), bareApp(t)] as const
  for (const app of apps) await service.install(app)
  assert.equal(await call({ token }), 'admitted null')
  await apps[0].close()
  assert.equal(await call({ token }), 'admitted null')
  await apps[1].close()
  assert.equal(await call({ token }), '503 ERR_AUTH_KEYS_UNAVAILABLE')
  assert.equal(await call({ token: 7 }), 'TypeError')
  const again = bareApp(t)
  await service.install(again)
  assert.equal(await call({ token }), 'admitted null')
})

test('a suspended tenant refuses, whatever suspendedTenants says, and superusers pass', async (t) => {
  const options = { superuserResource: 'authz:superuser', suspendedTenants: 'read' } as const
  const { call } = await start(t, { ...options, tenants: { ids: ['b'], suspended: ['a'] } })
  const root = await tokenOf({ '*': ['authz:superuser'] })
  const found = await call({ token: await tokenOf({ a: [] }), tenant: 'a' })
  assert.equal(found, '403 ERR_AUTH_TENANT_SUSPENDED')
  assert.equal(await call({ token: root, tenant: 'a' }), 'admitted a')
})

test('an event reports each decision with request null, and stats count it', async (t) => {
  const events = heard(t, 'decision')
  const { call, service } = await start(t)
  await call({ token, tenant: 'lazy-raccoon', require: 'order:read' })
  await call({ token: 'x', tenant: 'lazy-raccoon' })
  await call({ token: '', tenant: 'a\nb' })
  await call({ token, tenant: 'other' })
  assert.deepEqual(
    events.map(({ request, outcome, code, sub, tenant, required }) => [
      ...[request, outcome, code, sub, tenant, required],
    ]),
    [
      [null, 'admitted', null, 'test-user', 'lazy-raccoon', ['order:read']],
      [null, 'refused', 'ERR_AUTH_TOKEN_INVALID', null, 'lazy-raccoon', null],
      [null, 'refused', 'ERR_AUTH_TOKEN_MISSING', null, null, null],
      [null, 'refused', 'ERR_AUTH_TENANT_FORBIDDEN', 'test-user', 'other', null],
    ],
  )
  const refused = {
    ERR_AUTH_TENANT_FORBIDDEN: 1,
    ERR_AUTH_TOKEN_INVALID: 1,
    ERR_AUTH_TOKEN_MISSING: 1,
  }
  assert.deepEqual(service.stats().decisions, { admitted: 1, refused })
})

test('it shares caches and bounds with requests, and asks neither tokenFrom nor resolveTenant', async (t) => {
  const asked: string[] = []
  const { call, app } = await start(t, {
    tokenFrom: () => assert.fail('tokenFrom'),
    resolveTenant: () => assert.fail('resolveTenant'),
    opaqueToken: async (key) => {
      asked.push(key)
      const { issuer: iss, audience: aud } = authority
      return { iss, aud, sub: key }
    },
    resourcesOf: async ({ sub }) => {
      asked.push(`rights of ${sub}`)
      return { acme: [] }
    },
    isRevoked: ({ sub }) => sub === 'mallory',
  })
  const keys = ['key', 'key', 'mallory']
  const calls = await Promise.all(keys.map((key) => call({ token: key, tenant: 'acme' })))
  assert.deepEqual(calls, ['admitted acme', 'admitted acme', INVALID])
  assert.deepEqual(asked.sort(), ['key', 'mallory', 'rights of key', 'rights of mallory'])
  assert.equal(app.authService.stats().tokenCache.size, 2)
})

for (const [confirmation, expected] of [
  ['refuse', [INVALID, 'admitted null']],
  ['check', [INVALID, 'admitted null']],
  ['ignore', ['admitted null', 'admitted null']],
  ['require', [INVALID, INVALID]],
] as const) {
  test(`a token that is bound to its sender, with confirmation ${confirmation}`, async (t) => {
    const { call } = await start(t, { confirmation, publicUrl: 'https://api.test' })
    const bound = await authority.token({ cnf: { jkt: 'a'.repeat(43) } })
    assert.deepEqual([await call({ token: bound }), await call({ token })], expected)
  })
}

test('in dev mode it is the mock user, and the token is not read', async (t) => {
  const { call, service, app } = await start(t, { devMode: true })
  assert.equal(await call({ token: 'anything', tenant: 'test-tenant' }), 'admitted test-tenant')
  assert.equal(await call({ token: '' }), 'admitted null')
  assert.equal(await call({ token: '', tenant: 'other' }), '403 ERR_AUTH_TENANT_FORBIDDEN')
  assert.equal(await call({ token: 7 }), 'TypeError')
  const { signal } = await service.authenticate({ token: '' })
  assert.equal(signal.aborted, false)
  await app.close()
  assert.equal(signal.reason.code, 'ERR_AUTH_KEYS_UNAVAILABLE')
})

test('what is set as onabort may be null, and the end throws nothing', async (t) => {
  const { service, app } = await start(t)
  const { signal } = await service.authenticate({ token })
  signal.onabort = null
  await app.close()
  assert.equal(signal.aborted, true)
})

test('it is decided once, admitted or refused, where nothing changes meanwhile', async (t) => {
  let asked = 0
  const isRevoked = () => {
    asked++
    return false
  }
  const { call } = await start(t, { isRevoked })
  assert.equal(await call({ token }), 'admitted null')
  assert.equal(asked, 1)
  assert.equal(await call({ token, tenant: 'other' }), '403 ERR_AUTH_TENANT_FORBIDDEN')
  assert.equal(asked, 2)
})

test('the signal ends with the token, its revocation, its tenant and the service, for its reason', async (t) => {
  holdTime(t, { apis: ['Date', 'setTimeout'], now: Math.floor(Date.now() / 1000) * 1000 })
  const isRevoked = denyList()
  const states = new Map<string, boolean | 'suspended'>([['acme', true]])
  const tenants = (tenant: string) => states.get(tenant) ?? true
  const { service, app } = await start(t, { isRevoked, tenants, tenantsMaxAge: 1 })
  const given = async (sub: string, tenant: string | null, expiresIn: number) => {
    const user = { sub, resources: { acme: [], other: [] } }
    return service.authenticate({ token: await authority.token(user, { expiresIn }), tenant })
  }
  const short = (await given('short', null, 60)).signal
  const revoked = (await given('revoked', null, 600)).signal
  const suspended = (await given('member', 'acme', 600)).signal
  const long = await given('long', 'other', 600)
  const { signal } = long
  const ends: string[] = []
  for (const each of [short, revoked, suspended, signal]) {
    each.addEventListener('abort', () => ends.push(each.reason.code))
  }
  t.mock.timers.tick(64_999)
  assert.deepEqual(ends, [])
  // Node runs the first of two timers at the end of the whole step.
  t.mock.timers.tick(100)
  await isRevoked.add({ sub: 'revoked', issuer: authority.issuer })
  states.set('acme', 'suspended')
  await service.authenticate({ token: await tokenOf({ acme: [] }), tenant: 'acme' }).catch(() => {})
  const codes = ['ERR_AUTH_TOKEN_INVALID', 'ERR_AUTH_TOKEN_INVALID', 'ERR_AUTH_TENANT_SUSPENDED']
  assert.deepEqual(ends.splice(0), codes)
  assert.equal(long.signal, signal, 'one for each caller')
  const unseen = await given('unseen', null, 600)
  await app.close()
  assert.deepEqual(ends, ['ERR_AUTH_KEYS_UNAVAILABLE'])
  const late: string[] = []
  for (const one of [long.signal, unseen.signal]) {
    assert.equal(one.aborted, true)
    one.addEventListener('abort', () => late.push(one.reason.code))
  }
  await setImmediate()
  assert.deepEqual(late, Array(2).fill('ERR_AUTH_KEYS_UNAVAILABLE'))
})

test('what follows a signal is aborted, though nobody holds the signal itself', async (t) => {
  const revoked = denyList()
  const { service } = await start(t, { isRevoked: revoked })
  const token = await tokenOf(RIGHTS, { sub: 'alice' })
  const heard: string[] = []
  const follow = async () => {
    const [one, two, three] = await Promise.all(
      [1, 2, 3].map(() => service.authenticate({ token })),
    )
    one?.signal.addEventListener('abort', () => heard.push('listener'))
    const both = AbortSignal.any([two?.signal ?? assert.fail(), new AbortController().signal])
    both.addEventListener('abort', () => heard.push('both'))
    Object.assign(three?.signal ?? {}, { onabort: () => heard.push('onabort') })
    return AbortSignal.any([three?.signal ?? assert.fail()])
  }
  const held = await follow()
  await settledHeap()
  await revoked.add({ sub: 'alice', issuer: authority.issuer })
  assert.deepEqual([heard.sort(), held.aborted], [['both', 'listener', 'onabort'], true])
})

test('a signal that is looked at long after the end, and never before, is aborted', async (t) => {
  const revoked = denyList()
  const { service } = await start(t, { isRevoked: revoked })
  const token = await tokenOf(RIGHTS, { sub: 'alice' })
  const callers = await Promise.all([1, 2].map(() => service.authenticate({ token })))
  const signals = callers.map(({ signal }) => signal)
  callers.splice(0)
  await revoked.add({ sub: 'alice', issuer: authority.issuer })
  await settledHeap()
  assert.deepEqual(
    signals.map(({ aborted, reason }) => [aborted, reason?.code]),
    Array(2).fill([true, 'ERR_AUTH_TOKEN_INVALID']),
  )
})

for (const tokenCacheSize of [10, 0]) {
  test(`callers by one token share a signal in each tenant, and each hears its end, with ${tokenCacheSize} tokens kept`, async (t) => {
    const { service, app } = await start(t, { tokenCacheSize })
    const given = { token: await tokenOf({ acme: [], other: [] }), tenant: 'acme' }
    const caller = async (more: object = {}) => service.authenticate({ ...given, ...more })
    await caller()
    const timers = t.mock.method(globalThis, 'setTimeout').mock
    const warnings = t.mock.method(process, 'emitWarning').mock
    const signals = new Set<AbortSignal>()
    let ended = 0
    for (let time = 0; time < 50; time++) {
      for (const tenant of ['acme', 'other', null]) {
        const { signal } = await caller({ tenant })
        signal.onabort = function () {
          if (this.aborted) ended++
        }
        signals.add(signal)
      }
    }
    assert.deepEqual([timers.callCount(), signals.size], [3, 3])
    assert.deepEqual(warnings.calls, [], 'of too many listeners of one signal')
    const unseen = await caller()
    await app.close()
    assert.equal(ended, 150)
    assert.equal(unseen.signal.aborted, true)
    await service.install(bareApp(t))
    assert.equal((await caller()).signal.aborted, false, 'a service that is open again')
  })
}

test('two tokens that end at once have a signal each: the revocation of one ends only its own', async (t) => {
  const revoked = denyList()
  const { service } = await start(t, { isRevoked: revoked })
  const exp = Math.floor(Date.now() / 1000) + 600
  const signalOf = async (sub: string) => {
    const given = { token: await tokenOf(RIGHTS, { sub, exp }), tenant: 'lazy-raccoon' }
    return (await service.authenticate(given)).signal
  }
  const [ofAlice, ofBob] = [await signalOf('alice'), await signalOf('bob')]
  await revoked.add({ sub: 'bob', issuer: authority.issuer })
  assert.deepEqual([ofAlice.aborted, ofBob.aborted], [false, true])
})

test('a user who was a superuser has a signal of its own, which ends with its tenant', async (t) => {
  let rights: Record<string, string[]> = { '*': ['root:all'] }
  let state: TenantState = true
  const { service, call } = await start(t, {
    superuserResource: 'root:all',
    resourcesOf: () => rights,
    tenants: () => state,
  })
  const given = { token, tenant: 'acme' }
  const { signal: ofSuperuser } = await service.authenticate(given)
  rights = { acme: [] }
  service.forget()
  const { signal: ofMember } = await service.authenticate(given)
  state = 'suspended'
  service.forget()
  assert.equal(await call(given), '403 ERR_AUTH_TENANT_SUSPENDED')
  assert.deepEqual([ofSuperuser.aborted, ofMember.aborted], [false, true])
})

test('a closing service ends what callers wait for with 503', async (t) => {
  const never = new Promise<null>(() => {})
  const { call, app } = await start(t, { opaqueToken: () => never })
  const waiting = call({ token: 'key' })
  await setImmediate()
  await app.close()
  assert.equal(await waiting, '503 ERR_AUTH_INTROSPECTION_UNAVAILABLE')
})

test('what is revoked while rights are asked for is refused', async (t) => {
  const isRevoked = denyList()
  let goOn = (_: object) => {}
  const rights = new Promise<object>((resolve) => {
    goOn = resolve
  })
  const { call } = await start(t, untyped({ isRevoked, resourcesOf: () => rights }))
  const waiting = call({ token })
  await setImmediate()
  await isRevoked.add({ sub: 'test-user', issuer: authority.issuer })
  goOn({})
  assert.equal(await waiting, INVALID)
})

for (const [what, isKept, expected] of [
  ['once, and its own is gone', false, INVALID],
  ['each time', true, '503 ERR_AUTH_ISSUERS_UNAVAILABLE'],
] as const) {
  test(`a caller whose keys are replaced ${what} while it waits is refused, and not named`, async (t) => {
    const names = ['https://one.test', 'https://two.test']
    const others = await Promise.all(names.map((issuer) => createTestAuthority({ issuer })))
    let { keys } = authority.publicKeys
    const server = await askedServer((_, response) => response.end(JSON.stringify({ keys })))
    const tenants = async () => {
      const [other] = others.reverse()
      const more = other?.publicKeys.keys.map((key) => ({ ...key, kid: other.issuer })) ?? []
      keys = isKept ? [...authority.publicKeys.keys, ...more] : more
      await service.refreshKeys()
      return true
    }
    const options = { publicKeysUrl: server.url, tenants, tenantsMaxAge: 0 }
    const { service, call } = await start(t, options)
    const events = heard(t, 'decision')
    assert.equal(await call({ token, tenant: 'lazy-raccoon' }), expected)
    assert.deepEqual(
      events.map(({ sub }) => sub),
      [null],
    )
  })
}

for (const [what, end, expected] of [
  ['keys are replaced', (service: AuthService) => service.refreshKeys(), 'admitted lazy-raccoon'],
  ['token is revoked', (_: AuthService, add: () => Promise<void>) => add(), INVALID],
] as const) {
  test(`a caller whose ${what} while it waits for a refusal is decided anew`, async (t) => {
    const other = await createTestAuthority({ issuer: 'https://one.test' })
    const more = other.publicKeys.keys.map((key) => ({ ...key, kid: 'another' }))
    let { keys } = authority.publicKeys
    const server = await askedServer((_, response) => response.end(JSON.stringify({ keys })))
    const isRevoked = denyList()
    let asked = 0
    const tenants = async () => {
      asked += 1
      if (asked > 1) return true
      keys = [...keys, ...more]
      await end(service, () => isRevoked.add({ sub: 'test-user', issuer: authority.issuer }))
      return false
    }
    const options = { publicKeysUrl: server.url, tenants, tenantsMaxAge: 0, isRevoked }
    const { service, call } = await start(t, options)
    assert.equal(await call({ token, tenant: 'lazy-raccoon' }), expected)
  })
}

test('where the deny list grows stale while rights are asked for it is 503, as for a request', async (t) => {
  holdTime(t, { apis: ['Date', 'setTimeout'], now: Date.now() })
  let isUp = true
  const changes = async () => (isUp ? { entries: [], cursor: 'c' } : Promise.reject(new Error()))
  const isRevoked = denyList({ changes })
  let goOn = (_: object) => {}
  const rights = new Promise<object>((resolve) => {
    goOn = resolve
  })
  const { call } = await start(
    t,
    untyped({ isRevoked, resourcesOf: () => rights, tenantsTimeout: 900 }),
  )
  await isRevoked.ready()
  const waiting = call({ token: await authority.token({}, { expiresIn: 900 }) })
  await setImmediate()
  isUp = false
  t.mock.timers.tick(61_000)
  goOn({})
  assert.equal(await waiting, '503 ERR_AUTH_REVOCATION_UNAVAILABLE')
})

test('a refusal by kept rights asks anew first here too', async (t) => {
  holdTime(t, { apis: ['Date', 'setTimeout'], now: Date.now() })
  let rights = {}
  const { call } = await start(t, { resourcesOf: async () => rights })
  const given = { token: await tokenOf(), tenant: 'acme' }
  assert.equal(await call(given), '403 ERR_AUTH_TENANT_FORBIDDEN')
  rights = { acme: [] }
  t.mock.timers.tick(2000)
  assert.equal(await call(given), 'admitted acme')
})

test('below a handler the functions that it asks have no authorization, and the handler keeps its own', async (t) => {
  const seen: unknown[] = []
  const { service } = await start(t, { asyncContext: true })
  const app = bareApp(t)
  const inner = new AuthService(
    trusting({
      asyncContext: true,
      resourcesOf: () => {
        seen.push(currentAuthorization())
        return {}
      },
    }),
  )
  await inner.install(app)
  const outer = bareApp(t)
  await service.install(outer)
  outer.get('/', async () => {
    await inner.authenticate({ token })
    return { sub: currentAuthorization()?.userInfo.sub }
  })
  const response = await outer.inject({ url: '/', headers: await as() })
  assert.deepEqual([response.json(), seen], [{ sub: 'test-user' }, [null]])
})
