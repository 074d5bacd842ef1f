import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { inspect } from 'node:util'
import type { LightMyRequestResponse } from 'fastify'
import { denyList } from '../../lib/entrypoints/revocation/index.ts'
import tenantAuth, { type AuthOptions } from '../../lib/index.ts'
import { CALLBACKS, type Callback } from '../helpers/app/callbacks.ts'
import { as, bareApp, guardedApp, trusting } from '../helpers/app/guarded-app.ts'
import { logLines } from '../helpers/app/log-lines.ts'
import { neverAnswering } from '../helpers/app/never-answering.ts'
import { outcome } from '../helpers/app/refusals.ts'
import { holdTime } from '../helpers/processes/age-by-date.ts'

const callbackOf = (name: string) => CALLBACKS.find(([each]) => each === name) ?? assert.fail(name)

/** A guarded application with one such function, and a request. The test moves the clock. */
async function start(
  t: TestContext,
  name: string,
  callback: () => unknown,
  more: AuthOptions = {},
) {
  holdTime(t, { apis: ['Date', 'setTimeout'], now: Date.now() })
  const [, optionsOf, , headers] = callbackOf(name)
  const log = logLines()
  const app = bareApp(t, { logger: log.logger })
  const options = { ...optionsOf(callback as Callback), ...more }
  await app.register(tenantAuth, name === 'issuers' ? options : trusting(options))
  app.get('/orders', { config: { tenant: true } }, async () => 'ok')
  const ask = async (): Promise<LightMyRequestResponse> =>
    app.inject({
      url: '/orders?tenant=lazy-raccoon',
      headers: headers ?? (await as({ 'lazy-raccoon': [] }, {})),
    })
  const levels = (message: string) => log.lines(message).map(({ level }) => level)
  return { app, log, ask, levels, pass: (seconds: number) => t.mock.timers.tick(seconds * 1000) }
}

const SECRET = 'relation "member" does not exist'

for (const [name, , expected] of CALLBACKS) {
  test(`what ${name} throws is logged once a minute, each time at level debug, and not to the caller`, async (t) => {
    const { log, ask, levels, pass } = await start(t, name, () => {
      throw Object.assign(new TypeError(SECRET), { code: '42P01', hint: 'a typo' })
    })
    const message = `tenant auth: ${name} failed (42P01)`
    for (const _ of [1, 2]) {
      const answer = await ask()
      assert.equal(outcome(answer), expected)
      assert.equal(`${answer.body}${JSON.stringify(answer.headers)}`.includes('member'), false)
    }
    assert.deepEqual(levels(message), [40, 20, 20])
    const [line] = log.lines(message)
    const shown = [line?.['function'], Reflect.get(Object(line?.['err']), 'message')]
    assert.deepEqual(shown, [name, SECRET])
    assert.equal(Reflect.get(Object(line?.['err']), 'hint'), 'a typo')
    pass(59.9)
    await ask()
    assert.deepEqual(levels(message), [40, 20, 20, 20])
    pass(0.1)
    await ask()
    assert.deepEqual(levels(message), [40, 20, 20, 20, 40, 20])
  })
}

/** A wrong answer, the member that is named, and the outcome where that is another one. */
const WRONG: [name: string, answer: unknown, member: string, outcome?: string][] = [
  ['tenants', 'yes', "the answer: expected a boolean or 'suspended', found string"],
  ['isRevoked', undefined, 'the answer: expected a boolean, found undefined'],
  [
    'resolveTenant',
    ['acme'],
    'the answer: expected a string or null, found a list',
    '400 ERR_AUTH_TENANT_INVALID',
  ],
  ['resourcesOf', { acme: 'a:b' }, 'resources of "acme": expected a list of strings, found string'],
  ['resourcesOf', { acme: [null] }, 'resources of "acme", item 0: expected a string, found null'],
  ['resourcesOf', undefined, 'the answer: expected an object or null, found undefined'],
  ['opaqueToken', 5, 'the answer: expected claims, a JWT or null, found number'],
  ['opaqueToken', undefined, 'the answer: expected claims, a JWT or null, found undefined'],
  [
    'opaqueToken',
    'no-jwt',
    'the answer: expected claims, a JWT or null, found a string that is no JWT',
  ],
  [
    'opaqueToken',
    new Map([['sub', 'a']]),
    'the answer: expected a plain object, found another one',
  ],
  [
    'opaqueToken',
    { sub: 'a', resources: new Map([['acme', []]]) },
    'resources: expected a plain object, found another one',
  ],
  ...[undefined, () => 'x', Symbol('x')].map((jkt): [string, unknown, string] => [
    'opaqueToken',
    { sub: 'a', cnf: { jkt, 'x5t#S256': 'x' } },
    `cnf, jkt: expected an enumerable value that JSON has, found ${typeof jkt}`,
  ]),
  [
    'opaqueToken',
    { sub: 'a', cnf: Object.defineProperty({}, 'jkt', { value: 'x' }) },
    'cnf, jkt: expected an enumerable value that JSON has, found string',
  ],
  [
    'opaqueToken',
    { sub: 'a', cnf: { jkt: 'x', toJSON: () => ({}) } },
    'cnf, jkt: expected an enumerable value that JSON has, found string',
  ],
  [
    'opaqueToken',
    { sub: 'a', cnf: () => 'x' },
    'cnf: expected an enumerable value that JSON has, found function',
  ],
  [
    'opaqueToken',
    {
      sub: 'a',
      get cnf() {
        return new Map([['jkt', 'x']])
      },
    },
    'cnf: expected an enumerable value that JSON has, found another one',
  ],
  [
    'opaqueToken',
    { sub: 'a', cnf: { jkt: 'x' }, toJSON: () => ({ sub: 'a' }) },
    'toJSON: expected no function, found function',
  ],
  [
    'opaqueToken',
    { sub: 42 },
    'sub: expected a string, found number',
    '401 ERR_AUTH_TOKEN_INVALID',
  ],
  [
    'opaqueToken',
    { sub: 'a', exp: 'soon' },
    'exp: expected a finite number, found string',
    '401 ERR_AUTH_TOKEN_INVALID',
  ],
  [
    'opaqueToken',
    { sub: 'a', iat: new Date() },
    'iat: expected a finite number, found string',
    '401 ERR_AUTH_TOKEN_INVALID',
  ],
  [
    'opaqueToken',
    { sub: 'a', resources: { acme: 'menu:read' } },
    'resources of "acme": expected a list of strings, found string',
    '401 ERR_AUTH_TOKEN_INVALID',
  ],
  ['issuers', 5, 'the answer: expected an object or null, found number'],
  ['issuers', { tenants: '*', audience: 5 }, 'audience: expected'],
  ['issuers', { tenants: [], audience: 'a' }, 'tenants: expected'],
  [
    'issuers',
    { tenants: '*', audience: 'a', issuer: 'https://other.test' },
    'issuer: expected the one that was asked for, found another one',
  ],
  ['mapClaims', { sub: 5 }, 'sub: expected a string, found number'],
  ['mapClaims', { sub: '' }, 'sub: expected a string that is not empty'],
  ['mapClaims', 5, 'the answer: expected an object, found number'],
  ['mapClaims', undefined, 'the answer: expected an object, found undefined'],
  ['mapClaims', null, 'the answer: expected an object, found null'],
  ['mapClaims', () => 5, 'the answer: expected an object, found function'],
  ['mapClaims', [{ sub: 'a' }], 'the answer: expected an object, found a list'],
  ['mapClaims', Promise.resolve({ sub: 'a' }), 'the answer: expected an object, found a promise'],
  [
    'mapClaims',
    { sub: 'a', preferred_username: 5 },
    'preferred_username: expected a string, found number',
  ],
  ['mapClaims', { sub: 'a', resources: 5 }, 'resources: expected an object, found number'],
  [
    'mapClaims',
    { sub: 'a', resources: { acme: 'a:b' } },
    'resources of "acme": expected a list of strings, found string',
  ],
  ...[new Map([['lazy-raccoon', []]]), Promise.resolve({}), () => ({})].map(
    (resources): [string, unknown, string] => [
      'mapClaims',
      { sub: 'a', resources },
      'resources: expected a plain object, found another one',
    ],
  ),
  [
    'mapClaims',
    Object.assign(Object.create({ resources: { 'lazy-raccoon': [] } }), { sub: 'a' }),
    'resources: expected a plain object, found another one',
  ],
  ['tokenFrom', 5, 'the answer: expected a string or null, found number'],
  ['tokenFrom', Promise.resolve('a'), 'the answer: expected a string or null, found a promise'],
]

for (const [name, answer, member, instead] of WRONG) {
  test(`of an answer of ${name} that is ${inspect(answer, { depth: 0 })} the log names the member`, async (t) => {
    const { ask, levels } = await start(t, name, () => answer)
    assert.equal(outcome(await ask()), instead ?? callbackOf(name)[2])
    await ask()
    const message = `tenant auth: ${name} gave no usable answer: ${member}`
    assert.deepEqual(levels(message), [40, 20, 20])
  })
}

const unreadable = () => {
  throw new TypeError('the row is gone')
}

/** Answers that throw when they are looked at. */
const UNREADABLE: readonly [what: string, answer: () => unknown][] = [
  ['whose type cannot be read', () => new Proxy({}, { getPrototypeOf: unreadable })],
  [
    'a function whose type cannot be read',
    () => new Proxy(() => {}, { getPrototypeOf: unreadable }),
  ],
  ['whose members cannot be read', () => new Proxy({}, { has: unreadable, ownKeys: unreadable })],
  [
    'a promise whose then cannot be called',
    () => Object.defineProperty(Promise.resolve(), 'then', { value: unreadable }),
  ],
  [
    'that is revoked',
    () => {
      const { proxy, revoke } = Proxy.revocable(() => {}, {})
      revoke()
      return proxy
    },
  ],
]

for (const [name, , expected] of CALLBACKS) {
  for (const [what, answer] of UNREADABLE) {
    test(`an answer of ${name} ${what} is none, and that is logged`, async (t) => {
      const { log, ask } = await start(t, name, answer)
      const came = outcome(await ask())
      // A promise that cannot be waited for is no answer.
      const isName = name === 'resolveTenant' && !/promise|members/.test(what)
      assert.equal(came, isName ? '400 ERR_AUTH_TENANT_INVALID' : expected)
      const logged = log.messages(40).filter((text) => text.startsWith(`tenant auth: ${name} `))
      assert.equal(logged.length, 1)
    })
  }
}

for (const name of ['mapClaims', 'tokenFrom'] as const) {
  test(`the log says why a promise in place of an answer of ${name} rejects`, async (t) => {
    const { ask, levels } = await start(t, name, async () => {
      throw new TypeError('a typo')
    })
    await ask()
    await new Promise(setImmediate)
    assert.deepEqual(levels(`tenant auth: ${name} failed (TypeError)`), [40, 20])
  })
}

for (const [name, , expected] of CALLBACKS.slice(0, 6)) {
  test(`${name} is late after tenantsTimeout, and that is logged`, async (t) => {
    const { ask: hang, isAsked } = neverAnswering()
    const { ask, levels, pass } = await start(t, name, hang, { tenantsTimeout: 7 })
    const answer = ask()
    await isAsked
    await new Promise(setImmediate)
    pass(6.9)
    await new Promise(setImmediate)
    assert.deepEqual(levels(`tenant auth: ${name} is late`), [])
    pass(0.1)
    assert.equal(outcome(await answer), expected)
    assert.deepEqual(levels(`tenant auth: ${name} is late`), [40, 20])
  })
}

/** Answers in which an `await` was forgotten. */
const UNAWAITED: readonly [
  name: string,
  where: string,
  answer: (late: Promise<unknown>) => unknown,
][] = [
  ['mapClaims', 'resources', (resources) => ({ sub: 'a', resources })],
  ['mapClaims', 'a tenant', (ids) => ({ sub: 'a', resources: { 'lazy-raccoon': ids } })],
  ['resourcesOf', 'a tenant', (ids) => ({ 'lazy-raccoon': ids })],
  ['opaqueToken', 'resources', (resources) => ({ sub: 'a', resources })],
  ['opaqueToken', 'cnf', (cnf) => ({ sub: 'a', cnf })],
]

for (const [name, where, answer] of UNAWAITED) {
  test(`a promise at ${where} in an answer of ${name} that rejects does not end the process`, async (t) => {
    const rejected = t.mock.fn()
    process.on('unhandledRejection', rejected)
    t.after(() => process.off('unhandledRejection', rejected))
    const { ask } = await start(t, name, () => answer(Promise.reject(new Error(SECRET))))
    assert.equal(outcome(await ask()), callbackOf(name)[2])
    for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate)
    assert.equal(rejected.mock.callCount(), 0)
  })
}

class Rights {
  readonly 'lazy-raccoon' = []
}

class Row {
  readonly sub = 'a'
  get resources() {
    return new Map()
  }
  toJSON() {
    return { sub: 'a', resources: new Rights() }
  }
}

for (const mapped of [{ sub: 'a', resources: new Rights() }, new Row()]) {
  test(`rights of mapClaims that a copy has whole count, whatever their class: ${inspect(mapped)}`, async (t) => {
    const { ask } = await start(t, 'mapClaims', () => mapped)
    assert.equal(outcome(await ask()), '200')
  })
}

test('what the functions behind a deny list throw is logged', async (t) => {
  const log = logLines()
  const isRevoked = denyList({
    changes: async () => Promise.reject(new RangeError(SECRET)),
    append: async () => Promise.reject(new RangeError(SECRET)),
  })
  const app = await guardedApp(t, { isRevoked }, { logger: log.logger })
  await app.ready()
  await assert.rejects(isRevoked.ready(), { code: 'ERR_AUTH_REVOCATION_UNAVAILABLE' })
  await assert.rejects(isRevoked.add({ jti: 'x' }), { code: 'ERR_AUTH_REVOCATION_UNAVAILABLE' })
  for (const name of ['changes', 'append']) {
    const [line] = log.lines(`tenant auth: ${name} failed (RangeError)`)
    const shown = [line?.level, line?.['function'], Reflect.get(Object(line?.['err']), 'message')]
    assert.deepEqual(shown, [40, name, SECRET])
  }
})

test('an error that is frozen is in the log with its type, its code and its cause', async (t) => {
  const cause = new Error('the reason')
  const error = Object.assign(new RangeError(SECRET, { cause }), { code: '42P01' })
  Object.freeze(error)
  const { ask, log } = await start(t, 'tenants', () => {
    throw error
  })
  assert.equal(outcome(await ask()), '503 ERR_AUTH_TENANTS_UNAVAILABLE')
  const [line] = log.lines('tenant auth: tenants failed (42P01)')
  const { type, message, code } = Object(line?.['err'])
  assert.deepEqual([type, message, code], ['RangeError', `${SECRET}: the reason`, '42P01'])
})

test('an error whose members cannot be read is logged without it', async (t) => {
  const error = Object.defineProperties(new Error(), {
    code: { get: () => JSON.parse('{'), enumerable: true },
    stack: { get: () => JSON.parse('{') },
    message: { get: () => JSON.parse('{') },
  })
  const { ask, levels } = await start(t, 'tenants', () => {
    throw error
  })
  assert.equal(outcome(await ask()), '503 ERR_AUTH_TENANTS_UNAVAILABLE')
  assert.deepEqual(levels('tenant auth: tenants failed (Error)'), [40, 20])
})

test('of a hundred ways to fail each is logged in a minute, and of further ones each kind', async (t) => {
  let kind = 0
  const { log, ask, pass } = await start(t, 'tenants', () => {
    kind += 1
    throw Object.assign(new Error(), { code: `E${kind}` })
  })
  const warnings = () =>
    log.messages(40).filter((message) => message.startsWith('tenant auth: tenants failed')).length
  for (let times = 0; times < 250; times++) await ask()
  assert.equal(warnings(), 101)
  pass(60)
  await ask()
  assert.equal(warnings(), 102)
})
