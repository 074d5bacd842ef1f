import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { LightMyRequestResponse } from 'fastify'
import tenantAuth, { type AuthOptions, errors, type RouteDeclaration } from '../../lib/index.ts'
import { bareApp, untyped } from '../helpers/app/guarded-app.ts'
import { heard } from '../helpers/app/heard.ts'
import { logLines } from '../helpers/app/log-lines.ts'
import { outcome } from '../helpers/app/refusals.ts'
import { holdTime } from '../helpers/processes/age-by-date.ts'
import { forge } from '../helpers/tokens/forge.ts'
import { AUDIENCE, goodClaims, goodToken, ISSUER, KEY } from '../helpers/tokens/probe.ts'

type StepUp = NonNullable<RouteDeclaration['stepUp']>

const NOW = 1_800_000_000
const STALE = '401 ERR_AUTH_STEP_UP_REQUIRED'
const TRUST = { publicKeys: { keys: [KEY.publicJwk] }, issuer: ISSUER, audience: AUDIENCE }

/**
 * An application whose clock a test moves, with a route that wants a login, one that wants none,
 * and one whose handler wants it.
 */
async function start(t: TestContext, stepUp: StepUp, options: object = {}) {
  holdTime(t, { apis: ['Date'], now: NOW * 1000 })
  const log = logLines()
  const app = bareApp(t, { logger: log.logger })
  const given: AuthOptions = untyped({ ...TRUST, ...options })
  await app.register(tenantAuth, given)
  app.get('/x', { config: { stepUp } }, async () => 'x')
  app.get('/any', async () => 'any')
  app.get('/handler', { config: { authorization: true } }, async ({ authorization }) => {
    if (stepUp !== false) authorization.stepUp(stepUp)
    return 'handled'
  })
  app.get('/needs', { config: { require: 'a:b', stepUp } }, async () => 'held')
  const ask = (token: string, url = '/x'): Promise<LightMyRequestResponse> =>
    app.inject({ url, headers: { authorization: `Bearer ${token}` } })
  const pass = (seconds: number) => t.mock.timers.tick(seconds * 1000)
  return { app, ask, pass, log }
}

/** A token whose further claims are JSON as it is written, without the braces. */
function tokenOf(claims: string, over: object = {}): string {
  const payload = JSON.stringify(goodClaims(over)).slice(0, -1)
  return forge(KEY, { payload: claims === '' ? `${payload}}` : `${payload},${claims}}` })
}

const AGE: StepUp = { maxAge: 300 }
const BOTH: StepUp = { acr: ['phr', 'phrh'], maxAge: 300 }

/** What is wanted, what the token says, and why that is not enough; undefined: it is. */
const JUDGED: readonly [stepUp: StepUp, claims: string, reason?: string][] = [
  [{ acr: 'phr' }, '"acr":"phr"'],
  [{ acr: ['phr', 'phrh'] }, '"acr":"phrh"'],
  [{ acr: ['phr'] }, '"acr":"phr","auth_time":"never"'],
  [{ acr: ['phr'] }, '"acr":"phr","auth_time":1'],
  [{ acr: 'phr' }, '', 'there is no acr'],
  [{ acr: 'phr' }, '"auth_time":1800000000', 'there is no acr'],
  [{ acr: 'phr' }, '"acr":"phrh"', 'the acr is none of those'],
  [{ acr: 'phr' }, '"acr":"PHR"', 'the acr is none of those'],
  [{ acr: 'phr' }, '"acr":"phr "', 'the acr is none of those'],
  [{ acr: ['phr', 'phrh'] }, '"acr":"phr phrh"', 'the acr is none of those'],
  [{ acr: 'phr' }, '"acr":""', 'the acr is none of those'],
  [{ acr: '1' }, '"acr":1', 'there is no acr'],
  [{ acr: 'phr' }, '"acr":["phr"]', 'there is no acr'],
  [{ acr: 'phr' }, '"acr":{"phr":true}', 'there is no acr'],
  [{ acr: 'null' }, '"acr":null', 'there is no acr'],
  [{ acr: 'phr' }, '"__proto__":{"acr":"phr"}', 'there is no acr'],
  [{ acr: 'phr' }, '"amr":["phr"],"acrs":["phr"]', 'there is no acr'],
  [AGE, '"auth_time":1800000000'],
  [AGE, '"auth_time":1800000000.5'],
  // By the default tolerance of 5 seconds.
  [AGE, '"auth_time":1799999695'],
  [AGE, '"auth_time":1799999694.999', 'the login is too old'],
  [AGE, '"auth_time":1799999694', 'the login is too old'],
  [AGE, '"auth_time":1800000005'],
  [AGE, '"auth_time":1800000005.001', 'the login is in the future'],
  [AGE, '"auth_time":1800000006', 'the login is in the future'],
  [AGE, '"auth_time":1800000000000', 'the login is in the future'],
  [AGE, '"auth_time":-1800000000', 'the login is too old'],
  [AGE, '"auth_time":0', 'the login is too old'],
  [AGE, '', 'there is no auth_time'],
  [AGE, '"iat":1800000000', 'there is no auth_time'],
  [AGE, '"acr":"phr"', 'there is no auth_time'],
  [AGE, '"auth_time":"1800000000"', 'there is no auth_time'],
  [AGE, '"auth_time":[1800000000]', 'there is no auth_time'],
  [AGE, '"auth_time":1e999', 'there is no auth_time'],
  [AGE, '"auth_time":-1e999', 'there is no auth_time'],
  [AGE, '"auth_time":null', 'there is no auth_time'],
  [AGE, '"auth_time":true', 'there is no auth_time'],
  [AGE, '"__proto__":{"auth_time":1800000000}', 'there is no auth_time'],
  [{ maxAge: 0 }, '"auth_time":1799999995'],
  [{ maxAge: 0 }, '"auth_time":1799999994', 'the login is too old'],
  [{ maxAge: Number.MAX_SAFE_INTEGER }, '"auth_time":0'],
  [BOTH, '"acr":"phrh","auth_time":1799999700'],
  [BOTH, '"acr":"phr"', 'there is no auth_time'],
  [BOTH, '"acr":"pwd","auth_time":1800000000', 'the acr is none of those'],
  [BOTH, '"acr":"phr","auth_time":1799999000', 'the login is too old'],
  [false, ''],
]

for (const [stepUp, claims, reason] of JUDGED) {
  const verdict = reason === undefined ? 'enough' : `not enough: ${reason}`
  test(`where ${JSON.stringify(stepUp)} is wanted, {${claims}} is ${verdict}`, async (t) => {
    const events = heard(t, 'decision')
    const { ask, log } = await start(t, stepUp)
    const token = tokenOf(claims)
    for (const url of ['/x', '/handler', '/x']) {
      assert.equal(outcome(await ask(token, url)), reason === undefined ? '200' : STALE, url)
    }
    assert.equal(outcome(await ask(token, '/any')), '200')
    const [event] = events
    assert.deepEqual([event?.sub, event?.reason, event?.issuer], ['alice', reason ?? null, ISSUER])
    const lines = log.lines('request refused').map((line) => [line['code'], line['reason']])
    const line = ['ERR_AUTH_STEP_UP_REQUIRED', reason]
    assert.deepEqual(lines, reason === undefined ? [] : [line, line, line])
  })
}

test('a kept token is enough until its login is too old, by route and handler', async (t) => {
  const { app, ask, pass } = await start(t, { maxAge: 60 }, { clockTolerance: 10 })
  const token = goodToken({ auth_time: NOW - 20 })
  const answers = async () => [outcome(await ask(token)), outcome(await ask(token, '/handler'))]
  assert.deepEqual(await answers(), ['200', '200'])
  pass(50)
  assert.deepEqual(await answers(), ['200', '200'])
  pass(0.001)
  assert.deepEqual(await answers(), [STALE, STALE])
  assert.equal(outcome(await ask(token, '/any')), '200')
  assert.equal(app.authService.stats().tokenCache.misses, 1)
})

test('a login ahead of the clock is enough once the clock is there', async (t) => {
  const { ask, pass } = await start(t, { maxAge: 60 })
  const token = goodToken({ auth_time: NOW + 8 })
  assert.equal(outcome(await ask(token)), STALE)
  pass(3)
  assert.equal(outcome(await ask(token)), '200')
})

test('a refreshed token with a new iat and the old auth_time is as old as its login', async (t) => {
  const { ask, pass } = await start(t, AGE)
  const login = { auth_time: NOW, acr: 'phr' }
  assert.equal(outcome(await ask(goodToken(login))), '200')
  pass(306)
  const refreshed = goodToken(login)
  assert.equal(outcome(await ask(refreshed, '/any')), '200')
  assert.equal(outcome(await ask(refreshed)), STALE)
  assert.equal(outcome(await ask(goodToken({ ...login, auth_time: NOW + 306 }))), '200')
})

const FRESH = { acr: 'phr', auth_time: NOW }

/** The token decides, whatever the application makes of its claims. */
const MAPPED: readonly [what: string, mapClaims: (claims: object) => object, enough: boolean][] = [
  ['drops them', () => ({ sub: 'alice' }), true],
  ['makes others', () => ({ sub: 'alice', acr: 'pwd', auth_time: 1 }), true],
  ['changes them', (claims) => Object.assign(claims, { acr: 'pwd', auth_time: 1 }), true],
  ['makes them up', () => ({ sub: 'alice', ...FRESH }), false],
  ['adds them', (claims) => Object.assign(claims, FRESH), false],
]

for (const [what, mapClaims, enough] of MAPPED) {
  test(`a mapClaims that ${what} changes nothing of the login`, async (t) => {
    const { ask } = await start(t, BOTH, { mapClaims })
    const token = enough ? goodToken(FRESH) : goodToken()
    assert.equal(outcome(await ask(token)), enough ? '200' : STALE)
    assert.equal(outcome(await ask(token, '/handler')), enough ? '200' : STALE)
  })
}

test('rights of resourcesOf leave the login of the token', async (t) => {
  const resourcesOf = () => ({ '*': ['a:b'] })
  const { ask } = await start(t, BOTH, { resourcesOf })
  for (const url of ['/x', '/needs', '/handler']) {
    assert.equal(outcome(await ask(goodToken(FRESH), url)), '200', url)
    assert.equal(outcome(await ask(goodToken(), url)), STALE, url)
  }
})

test('an opaque token has the login of its answer, be that claims or a JWT', async (t) => {
  const answers = new Map<string, unknown>()
  const { ask, pass } = await start(t, BOTH, {
    opaqueToken: (token: string) => answers.get(token) ?? null,
  })
  answers.set('fresh', goodClaims(FRESH))
  answers.set('none', goodClaims())
  answers.set('odd', goodClaims({ acr: ['phr'], auth_time: `${NOW}` }))
  answers.set('jwt', goodToken(FRESH))
  const asked = async () =>
    Promise.all(['fresh', 'none', 'odd', 'jwt'].map(async (token) => outcome(await ask(token))))
  assert.deepEqual(await asked(), ['200', STALE, STALE, '200'])
  pass(200)
  assert.deepEqual(await asked(), ['200', STALE, STALE, '200'])
})

test('of a superuser a login is wanted too', async (t) => {
  const { ask } = await start(t, BOTH, { superuserResource: 'authz:superuser' })
  const resources = { '*': ['authz:superuser'] }
  for (const url of ['/x', '/needs', '/handler']) {
    assert.equal(outcome(await ask(goodToken({ resources }), url)), STALE, url)
    assert.equal(outcome(await ask(goodToken({ resources, ...FRESH }), url)), '200', url)
  }
})

test('nobody is asked for a login to be refused still: it comes after require', async (t) => {
  const { ask } = await start(t, BOTH)
  const held = { resources: { '*': ['a:b'] } }
  const answers = [{}, FRESH, held, { ...held, ...FRESH }].map(async (claims) =>
    outcome(await ask(goodToken(claims), '/needs')),
  )
  const lacks = '403 ERR_AUTH_RESOURCE_MISSING'
  assert.deepEqual(await Promise.all(answers), [lacks, lacks, STALE, '200'])
})

test('a token that is no good is refused for that, whatever its login', async (t) => {
  const { ask } = await start(t, BOTH)
  const token = goodToken({ ...FRESH, exp: NOW - 60 })
  assert.equal(outcome(await ask(token)), '401 ERR_AUTH_TOKEN_INVALID')
})

/** What code that merges the JSON of others may write into Object.prototype. */
const SPOILT: Readonly<Record<string, unknown>> = {
  acr: 'phr',
  auth_time: NOW,
  authTime: NOW,
  login: { acr: 'phr', authTime: NOW, tolerance: 0 },
  tolerance: 1e9,
  stepUp: { acr: ['pwd'], maxAge: 1 },
}

const WRITABLE = { configurable: true, enumerable: true, writable: true }

for (const [name, value] of Object.entries(SPOILT)) {
  test(`a spoilt Object.prototype.${name} makes no login, and no challenge`, async (t) => {
    const { app, ask } = await start(t, BOTH, { mapClaims: () => ({ sub: 'alice' }) })
    app.get('/age', { config: { stepUp: { maxAge: 1 } } }, async () => 'age')
    app.get('/missing', { config: { noauth: true } }, async () => {
      throw new errors.ERR_AUTH_TOKEN_MISSING()
    })
    await app.ready()
    Object.defineProperty(Object.prototype, name, { ...WRITABLE, value })
    try {
      const both = ', acr_values="phr phrh", max_age="300"'
      for (const [url, challenge, lacking] of [
        ['/x', both, ['"acr":"phr"', '"auth_time":1800000000']],
        ['/handler', both, ['"acr":"phr"', '"auth_time":1800000000']],
        ['/age', ', max_age="1"', ['"acr":"phr"']],
      ] as const) {
        for (const claims of ['', ...lacking]) {
          const response = await ask(tokenOf(claims), url)
          assert.equal(outcome(response), STALE)
          const error = 'error="insufficient_user_authentication"'
          const found = response.headers['www-authenticate']
          assert.equal(found, `Bearer realm="api", ${error}${challenge}`)
        }
      }
      const { headers } = await app.inject('/missing')
      assert.equal(headers['www-authenticate'], 'Bearer realm="api"')
      assert.equal(outcome(await ask(tokenOf('"acr":"phr","auth_time":1800000000'))), '200')
    } finally {
      Reflect.deleteProperty(Object.prototype, name)
    }
  })
}
