import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type DenyList, denyList } from '../../lib/entrypoints/revocation/index.ts'
import { refusalOf } from '../../lib/index.ts'
import { authority, guardedApp, untyped } from '../helpers/app/guarded-app.ts'
import { heard } from '../helpers/app/heard.ts'
import { outcome } from '../helpers/app/refusals.ts'
import { holdTime } from '../helpers/processes/age-by-date.ts'

const { issuer } = authority
const PHASES = ['resolveTenant', 'tenants', 'resourcesOf', 'first', 'last'] as const

type Phase = (typeof PHASES)[number]

const ROUTES = {
  late: { tenant: 'required', late: true },
  'late-checked': { tenant: 'required', late: true, check: ['first', 'last'] },
  checked: { tenant: 'required', check: ['first', 'last'] },
  'late-fresh': { tenant: 'required', late: true, stepUp: { maxAge: 1000 } },
} as const

type RouteName = keyof typeof ROUTES

/** An application each of whose functions waits for what the test does in its phase. */
async function start(t: TestContext, isRevoked: DenyList, during: (phase: Phase) => unknown) {
  const phase = async <Answer>(name: Phase, answer: Answer) => {
    await during(name)
    return answer
  }
  const app = await guardedApp(
    t,
    untyped({
      isRevoked,
      clockTolerance: 0,
      tenantsMaxAge: 0,
      resourcesMaxAge: 0,
      resolveTenant: () => phase('resolveTenant', 'acme'),
      tenants: () => phase('tenants', true),
      resourcesOf: () => phase('resourcesOf', { acme: [] }),
      checks: { first: () => phase('first', true), last: () => phase('last', true) },
    }),
  )
  let handled = 0
  for (const [name, config] of Object.entries(ROUTES)) {
    app.post(`/${name}`, { config }, async () => {
      handled += 1
    })
  }
  const decided = heard(t, 'decision')
  const auth_time = Math.floor(Date.now() / 1000)
  const headers = await authority.headers({ sub: 'alice', auth_time }, { expiresIn: 600 })
  return {
    app,
    token: headers.authorization.replace('Bearer ', ''),
    post: async (name: RouteName) =>
      outcome(await app.inject({ method: 'POST', url: `/${name}`, headers })),
    handled: () => handled,
    /** The last event. */
    event: () => decided.at(-1),
  }
}

const INVALID = '401 ERR_AUTH_TOKEN_INVALID'

for (const name of Object.keys(ROUTES) as RouteName[]) {
  for (const phase of PHASES) {
    test(`no handler runs for a token that is revoked in ${phase}: ${name}`, async (t) => {
      const revoked = denyList()
      let isOver = false
      const { post, handled, event } = await start(t, revoked, async (at) => {
        if (at !== phase) return
        isOver = true
        await revoked.add({ sub: 'alice', issuer })
      })
      const expected = await post(name)
      assert.deepEqual([expected, handled()], isOver ? [INVALID, 0] : ['200', 1])
      if (isOver) assert.deepEqual([event()?.reason, event()?.sub], ['revoked', null])
    })

    test(`no handler runs for a token that ends in ${phase}: ${name}`, async (t) => {
      holdTime(t, { apis: ['Date'], now: Date.now() })
      let isOver = false
      const { post, handled, event } = await start(t, denyList(), (at) => {
        if (at !== phase) return
        isOver = true
        t.mock.timers.tick(601_000)
      })
      assert.deepEqual([await post(name), handled()], isOver ? [INVALID, 0] : ['200', 1])
      if (isOver) assert.deepEqual([event()?.reason, event()?.sub], ['expired', null])
    })
  }

  test(`a list that grew too old while others were asked is 503: ${name}`, async (t) => {
    holdTime(t, { apis: ['Date'], now: Date.now() })
    let isAway = false
    const revoked = denyList({
      changes: async () => {
        if (isAway) throw new Error('on purpose')
        return { entries: [], cursor: 1 }
      },
    })
    const last = name.includes('check') ? 'last' : 'tenants'
    const { app, post, handled, event } = await start(t, revoked, async (at) => {
      if (at !== last) return
      isAway = true
      t.mock.timers.tick(61_000)
    })
    await app.ready()
    await revoked.ready()
    assert.deepEqual([await post(name), handled()], ['503 ERR_AUTH_REVOCATION_UNAVAILABLE', 0])
    assert.equal(event()?.sub, null)
  })
}

test('a login that grows too old in a check is refused, and the event names who has to log in', async (t) => {
  holdTime(t, { apis: ['Date'], now: Date.now() })
  const { app, token, event } = await start(t, denyList(), (at) => {
    if (at === 'last') t.mock.timers.tick(301_000)
  })
  const config = { stepUp: { maxAge: 300 }, check: ['first', 'last'] }
  app.post('/fresh', { config }, async () => 'never')
  const headers = { authorization: `Bearer ${token}` }
  const answer = await app.inject({ method: 'POST', url: '/fresh', headers })
  assert.equal(outcome(answer), '401 ERR_AUTH_STEP_UP_REQUIRED')
  assert.deepEqual([event()?.outcome, event()?.sub], ['refused', 'alice'])
})

test('a refusal after the body names the tenant that resolveTenant gave', async (t) => {
  const revoked = denyList()
  const { app, token, event } = await start(t, revoked, () => {})
  const refused: unknown[] = []
  app.post('/plain', { config: { tenant: 'required' } }, async () => 'never')
  app.addHook('preParsing', async () => revoked.add({ sub: 'alice', issuer }))
  app.addHook('onSend', async (request) => void refused.push(refusalOf(request)?.tenant))
  const headers = { authorization: `Bearer ${token}` }
  const answer = await app.inject({ method: 'POST', url: '/plain', headers, payload: { a: 1 } })
  assert.equal(outcome(answer), INVALID)
  assert.deepEqual([event()?.outcome, event()?.tenant, refused], ['refused', 'acme', ['acme']])
})

test('a caller whose token is revoked while others are asked is refused, and its event names nobody', async (t) => {
  const revoked = denyList()
  const { app, token, event } = await start(t, revoked, async (at) => {
    if (at === 'tenants') await revoked.add({ sub: 'alice', issuer })
  })
  await app.ready()
  const refused = { code: 'ERR_AUTH_TOKEN_INVALID' }
  await assert.rejects(app.authService.authenticate({ token, tenant: 'acme' }), refused)
  assert.deepEqual([event()?.outcome, event()?.sub], ['refused', null])
})

for (const [what, options] of [
  ['a check', { checks: { slow: true } }],
  ['tenants', { tenants: true }],
  ['isRevoked', { isRevoked: false }],
] as const) {
  test(`a good opaque token is let in though its answer grew old while ${what} was asked`, async (t) => {
    holdTime(t, { apis: ['Date'], now: Date.now() })
    const { issuer: iss, audience: aud } = authority
    const later = (answer: boolean) => async () => {
      await new Promise(setImmediate)
      t.mock.timers.tick(1500)
      return answer
    }
    const isCheck = 'checks' in options
    const given = Object.entries(options).map(([name, answer]) => [
      name,
      isCheck ? { slow: later(true) } : later(answer === true),
    ])
    const opaqueToken = () => ({ iss, aud, sub: 'alice', resources: { acme: [] } })
    const all = { tenantsMaxAge: 0, opaqueMaxAge: 0, opaqueToken, ...Object.fromEntries(given) }
    const app = await guardedApp(t, untyped(all))
    const config = isCheck ? { check: 'slow' } : {}
    app.get('/t/:tenant', { config }, async () => 'ok')
    const headers = { authorization: 'Bearer a-key-of-an-api' }
    const decided = heard(t, 'decision')
    assert.equal(outcome(await app.inject({ url: '/t/acme', headers })), '200')
    assert.deepEqual(
      decided.map((event) => event.outcome),
      ['admitted'],
    )
    await app.ready()
    const call = app.authService.authenticate({ token: 'a-key-of-an-api', tenant: 'acme' })
    assert.equal((await call).authorization.tenant, 'acme')
  })
}
