import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { denyList } from '../../lib/entrypoints/revocation/index.ts'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import tenantAuth, { type AuthOptions } from '../../lib/index.ts'
import { authority, bareApp, trusting } from '../helpers/app/guarded-app.ts'
import { logLines } from '../helpers/app/log-lines.ts'
import { outcome } from '../helpers/app/refusals.ts'
import { holdTime } from '../helpers/processes/age-by-date.ts'

/** An application on a clock that the test moves. */
async function start(t: TestContext, options: AuthOptions) {
  holdTime(t, { apis: ['Date', 'setTimeout'], now: Date.now() })
  const log = logLines()
  const app = bareApp(t, { logger: log.logger })
  await app.register(tenantAuth, options)
  app.get('/t/:tenant', async () => 'ok')
  await app.ready()
  return { app, log, pass: (seconds: number) => t.mock.timers.tick(seconds * 1000) }
}

const get = async (app: FastifyInstance, token: string) =>
  app.inject({ url: '/t/acme', headers: { authorization: `Bearer ${token}` } })

/** Until requests that were injected have asked what they ask at once. */
async function settled(): Promise<void> {
  for (let turns = 0; turns < 5; turns++) await new Promise(setImmediate)
}

const never = () => new Promise<null>(() => {})

const other = await createTestAuthority({ issuer: 'https://other.test' })
const BOTH = [authority, other].map((each) => each.issuerRules({ tenants: '*' }))
const third = await createTestAuthority({ issuer: 'https://third.test' })

test('invented opaque tokens shut out no user who was known before', async (t) => {
  const { issuer: iss, audience: aud } = authority
  const known = { iss, aud, sub: 'machine', resources: { acme: [] } }
  const opaqueToken = (token: string) => (token.startsWith('good') ? known : never())
  const { app, log, pass } = await start(t, trusting({ opaqueToken, opaqueMaxAge: 0.5 }))
  assert.equal((await get(app, 'good')).statusCode, 200)
  pass(0.5)
  const strangers = Array.from({ length: 1100 }, (_, at) => get(app, `invented-${at}`))
  await settled()
  assert.equal((await get(app, 'good')).statusCode, 200)
  const full = log.lines('request refused')
  const found = [full.length, full[0]?.['reason']]
  assert.deepEqual(found, [36, 'opaqueToken was not asked: its line is full'])
  for (const rest of [3600.5, 5]) {
    pass(rest)
    await settled()
  }
  const answers = await Promise.all(strangers)
  assert.deepEqual([...new Set(answers.map(outcome))], ['503 ERR_AUTH_INTROSPECTION_UNAVAILABLE'])
  assert.deepEqual([...new Set(answers.map(({ headers }) => headers['retry-after']))], ['1'])
})

test('opaque tokens of an issuer that answers no more shut out none of another one', async (t) => {
  const { audience: aud } = authority
  let hangs = false
  const opaqueToken = (token: string) => {
    const [whose] = token.split('-')
    if (whose === 'other' && hangs) return never()
    const iss = whose === 'other' ? other.issuer : authority.issuer
    return { iss, aud, sub: token, resources: { acme: [] } }
  }
  const rules = { issuers: BOTH, audience: aud, opaqueToken, opaqueMaxAge: 0.5 }
  const { app, log, pass } = await start(t, rules)
  const tokens = Array.from({ length: 1100 }, (_, at) => `other-${at}`)
  for (const token of [...tokens, 'mine']) {
    assert.equal((await get(app, token)).statusCode, 200)
  }
  hangs = true
  pass(0.5)
  const hanging = tokens.map((token) => get(app, token))
  await settled()
  const full = 'opaqueToken was not asked: its line is full'
  const found = log.lines('request refused').map(({ reason }) => reason)
  assert.deepEqual(
    found,
    Array.from({ length: 68 }, () => full),
  )
  assert.equal((await get(app, 'mine')).statusCode, 200)
  pass(5)
  await settled()
  const shown = [...new Set((await Promise.all(hanging)).map(({ statusCode }) => statusCode))]
  assert.deepEqual(shown, [503])
})

for (const [kind, issuers] of [
  ['a list', BOTH],
  ['a function', (iss: string) => BOTH.find(({ issuer }) => issuer === iss) ?? null],
] as const) {
  test(`users of one issuer of ${kind} hold half of the places of resourcesOf`, async (t) => {
    const asked: string[] = []
    const resourcesOf = ({ sub }: { sub: string }) => {
      asked.push(sub)
      return sub.startsWith('invented') ? never() : { acme: [] }
    }
    const { app, pass } = await start(t, {
      issuers,
      audience: authority.audience,
      resourcesOf,
    })
    const user = await authority.token({ sub: 'alice' })
    const tokens = await Promise.all(
      Array.from({ length: 540 }, (_, at) => other.token({ sub: `invented-${at}` })),
    )
    const strangers = tokens.map((token) => get(app, token))
    await settled()
    assert.equal(asked.length, 32)
    assert.equal((await get(app, user)).statusCode, 200)
    pass(5)
    await settled()
    pass(5)
    const answers = await Promise.all(strangers)
    assert.deepEqual([...new Set(answers.map(outcome))], ['503 ERR_AUTH_RESOURCES_UNAVAILABLE'])
  })
}

test('users of two issuers that fill the line of resourcesOf shut out no third one', async (t) => {
  const done: (() => void)[] = []
  const resourcesOf = () =>
    new Promise<object>((resolve) => void done.push(() => resolve({ acme: [] })))
  const { app, log } = await start(t, {
    issuers: [authority, other, third].map((each) => each.issuerRules({ tenants: '*' })),
    audience: authority.audience,
    resourcesOf: resourcesOf as () => never,
  })
  const user = await authority.token({ sub: 'alice' })
  const tokens = await Promise.all(
    Array.from({ length: 1120 }, (_, at) =>
      (at % 2 === 0 ? other : third).token({ sub: `first-seen-${at}` }),
    ),
  )
  const strangers = tokens.map((token) => get(app, token))
  await settled()
  assert.equal(done.length, 64)
  const asked = get(app, user)
  await settled()
  done.shift()?.()
  await settled()
  assert.equal(done.length, 64)
  done.pop()?.()
  assert.equal((await asked).statusCode, 200, 'the first place that is free is for alice')
  while (done.length > 0) {
    for (const answer of done.splice(0)) answer()
    await settled()
  }
  const answers = await Promise.all(strangers)
  assert.equal(answers.filter(({ statusCode }) => statusCode === 200).length, 64 + 999)
  const [full] = log.lines('request refused')
  assert.equal(full?.['reason'], 'resourcesOf was not asked: its line is full')
})

test('where there is one issuer, its users have all places', async (t) => {
  const resourcesOf = t.mock.fn(never)
  const { app, pass } = await start(t, trusting({ resourcesOf }))
  const tokens = await Promise.all(
    Array.from({ length: 70 }, (_, at) => authority.token({ sub: `user-${at}` })),
  )
  const answers = tokens.map((token) => get(app, token))
  await settled()
  assert.equal(resourcesOf.mock.callCount(), 64)
  pass(5)
  await settled()
  pass(5)
  await Promise.all(answers)
})

test('tokens that a deny list refuses ask for no rights, and any other isRevoked is asked after', async (t) => {
  const asked: string[] = []
  const resourcesOf = ({ sub }: { sub: string }) => {
    asked.push(`rights of ${sub}`)
    return { acme: [] }
  }
  const isRevoked = denyList()
  const listed = await start(t, trusting({ resourcesOf, isRevoked }))
  await isRevoked.add({ sub: 'mallory' })
  const mallory = await authority.token({ sub: 'mallory' })
  const alice = await authority.token({ sub: 'alice' })
  assert.equal(outcome(await get(listed.app, mallory)), '401 ERR_AUTH_TOKEN_INVALID')
  assert.equal((await get(listed.app, alice)).statusCode, 200)
  assert.deepEqual(asked.splice(0), ['rights of alice'])
  const own = bareApp(t)
  await own.register(
    tenantAuth,
    trusting({
      resourcesOf,
      isRevoked: ({ resources }) => {
        asked.push(`revoked, of ${Object.keys(resources ?? {})}`)
        return false
      },
    }),
  )
  own.get('/t/:tenant', async () => 'ok')
  assert.equal((await get(own, alice)).statusCode, 200)
  assert.deepEqual(asked, ['rights of alice', 'revoked, of acme'])
})

test('a deny list lets opaque tokens through both gates, and refuses those that an entry fits', async (t) => {
  const isRevoked = denyList()
  const { issuer: iss, audience: aud } = authority
  const { app } = await start(
    t,
    trusting({ isRevoked, opaqueToken: (sub) => ({ iss, aud, sub, resources: { acme: [] } }) }),
  )
  for (const _ of [1, 2]) assert.equal((await get(app, 'machine')).statusCode, 200)
  await isRevoked.add({ sub: 'machine' })
  assert.equal(outcome(await get(app, 'machine')), '401 ERR_AUTH_TOKEN_INVALID')
  assert.equal((await get(app, 'other')).statusCode, 200)
})

test('a fresh process that a thousand users ask at once answers them all', async (t) => {
  const resourcesOf = () =>
    new Promise<object>((resolve) => setImmediate(() => resolve({ acme: [] })))
  const { app } = await start(t, trusting({ resourcesOf: resourcesOf as () => never }))
  const tokens = await Promise.all(
    Array.from({ length: 1000 }, (_, at) => authority.token({ sub: `user-${at}` })),
  )
  const answers = await Promise.all(tokens.map((token) => get(app, token)))
  assert.deepEqual([...new Set(answers.map(({ statusCode }) => statusCode))], [200])
})
