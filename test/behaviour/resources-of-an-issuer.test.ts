import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { createTestAuthority, probe } from '../../lib/entrypoints/testing/index.ts'
import tenantAuth, { type AuthOptions, AuthService, type TokenUser } from '../../lib/index.ts'
import { configError } from '../helpers/app/config-error.ts'
import { authority, bareApp, untyped } from '../helpers/app/guarded-app.ts'
import { outcome } from '../helpers/app/refusals.ts'
import { holdTime } from '../helpers/processes/age-by-date.ts'

const other = await createTestAuthority({ issuer: 'https://other.test' })
const machines = await createTestAuthority({ issuer: 'https://machines.test' })
const audience = [authority.audience]
const READER = { acme: ['menu:read'] }
const rules = (of: typeof authority, more: object = {}) => ({
  ...of.issuerRules({ tenants: '*' }),
  ...more,
})

async function start(t: TestContext, options: object) {
  holdTime(t, { apis: ['Date', 'setTimeout'], now: Date.now() })
  const app = bareApp(t)
  await app.register(tenantAuth, untyped({ audience, ...options }) as AuthOptions)
  app.get('/:tenant', { config: { require: 'menu:read' } }, async () => 'ok')
  await app.ready()
  const pass = (seconds: number) => t.mock.timers.tick(seconds * 1000)
  return { app, pass }
}

const get = async (app: FastifyInstance, token: string) =>
  outcome(await app.inject({ url: '/acme', headers: { authorization: `Bearer ${token}` } }))

const long = { expiresIn: 3600 }
const none = '403 ERR_AUTH_TENANT_FORBIDDEN'

test('each issuer has its own function, that of the option, or the claims of its tokens', async (t) => {
  const asked: string[] = []
  const ask = (name: string, answer: object | null) => (user: TokenUser) => {
    asked.push(`${name} of ${user.issuer}`)
    return answer
  }
  const { app } = await start(t, {
    issuers: [
      rules(authority),
      rules(other, { resourcesOf: ask('own', READER) }),
      rules(machines, { resourcesOf: 'claims' }),
    ],
    resourcesOf: ask('option', null),
  })
  const resources = READER
  const claims = [
    { sub: 'a', resources },
    { sub: 'a', resources: {} },
  ]
  const outcomes = []
  for (const by of [authority, other, machines]) {
    for (const one of claims) outcomes.push(await get(app, await by.token(one)))
  }
  assert.deepEqual(outcomes, [none, none, '200', '200', '200', none])
  assert.deepEqual(asked, [`option of ${authority.issuer}`, `own of ${other.issuer}`])
})

test('a function of its own has its own places, line and users', async (t) => {
  const asked: string[] = []
  const hang = ({ issuer }: TokenUser) => {
    asked.push(String(issuer))
    return new Promise<never>(() => {})
  }
  const own = (user: TokenUser) => (user.sub === 'quick' ? READER : hang(user))
  const { app, pass } = await start(t, {
    issuers: [rules(authority), rules(other, { resourcesOf: own }), rules(machines)],
    resourcesOf: hang,
  })
  const waiting: Promise<string>[] = []
  for (const by of [authority, other]) {
    for (let at = 0; at < 70; at++) waiting.push(get(app, await by.token({ sub: `${at}` })))
  }
  for (let turns = 0; turns < 5; turns++) await new Promise(setImmediate)
  const count = (of: typeof authority) => asked.filter((iss) => iss === of.issuer).length
  assert.deepEqual([count(authority), count(other)], [32, 64], 'half of the shared places, all own')
  pass(5)
  for (let turns = 0; turns < 5; turns++) await new Promise(setImmediate)
  assert.equal(await get(app, await other.token({ sub: 'quick' })), '200')
  pass(5)
  assert.deepEqual([...new Set(await Promise.all(waiting))], ['503 ERR_AUTH_RESOURCES_UNAVAILABLE'])
})

test('forget and close reach the functions of issuers too', async (t) => {
  let answer: object = READER
  const { app } = await start(t, { issuers: [rules(other, { resourcesOf: async () => answer })] })
  const token = await other.token({ sub: 'alice' }, long)
  assert.equal(await get(app, token), '200')
  answer = {}
  assert.equal(await get(app, token), '200', 'kept')
  app.authService.forget({ issuer: other.issuer, sub: 'alice' })
  assert.equal(await get(app, token), none)
})

test('a function in issuers brings functions: a new one is no change, and none is one', async (t) => {
  let made = 0
  let kind: 'function' | 'claims' | 'option' = 'function'
  const asked: string[] = []
  const issuers = () => {
    made += 1
    const name = `function ${made}`
    const own = async () => {
      asked.push(name)
      return READER
    }
    return rules(other, {
      ...(kind !== 'option' && { resourcesOf: kind === 'claims' ? kind : own }),
    })
  }
  const resourcesOf = () => {
    asked.push('option')
    return {}
  }
  const { app, pass } = await start(t, { issuers, resourcesOf, issuersMaxAge: 10, keysMaxAge: 1e6 })
  const token = await other.token({ sub: 'alice', resources: {} }, long)
  const second = await other.token({ sub: 'bob', resources: READER }, long)
  assert.equal(await get(app, token), '200')
  pass(10.5)
  assert.deepEqual([await get(app, token), await get(app, second)], ['200', '200'])
  assert.deepEqual([made, asked.splice(0)], [2, ['function 1', 'function 2']], 'its users are kept')
  app.authService.forget({ issuer: other.issuer })
  assert.equal(await get(app, token), '200')
  assert.deepEqual(asked.splice(0), ['function 3'])
  kind = 'claims'
  pass(10.5)
  assert.deepEqual([await get(app, token), await get(app, second)], [none, '200'])
  kind = 'option'
  pass(10.5)
  assert.deepEqual([await get(app, token), await get(app, second)], [none, none])
  assert.deepEqual(asked.splice(0), ['option', 'option'])
})

for (const [what, options, part] of [
  ["the option 'claims'", { resourcesOf: 'claims' }, 'resourcesOf: expected a function'],
  [
    'another word of an issuer',
    { issuers: [rules(other, { resourcesOf: 'token' })] },
    "issuers[0].resourcesOf: expected a function, or 'claims'",
  ],
] as const) {
  test(`${what} stops the boot`, () => {
    assert.throws(() => new AuthService(untyped(options)), configError(part))
  })
}

test('a probe asks the function of its own issuer', async (t) => {
  const members = new Map<string, object>()
  const resourcesOf = ({ sub }: TokenUser) => members.get(sub) ?? null
  const issuers = [rules(other, { resourcesOf }), rules(machines, { resourcesOf: 'claims' })]
  const { app } = await start(t, { issuers, resourcesOf: () => assert.fail('of no issuer') })
  t.mock.timers.reset()
  await assert.rejects(probe(app, other), /with resourcesOf/)
  const grant = async ({ sub, resources }: { sub: string; resources: object }) =>
    void members.set(sub, resources)
  for (const [by, options] of [
    [other, { grant }],
    [machines, {}],
  ] as const) {
    const [route] = await probe(app, by, options)
    assert.deepEqual([route?.stranger, route?.foreigner, route?.without], [401, 403, 403])
  }
})
