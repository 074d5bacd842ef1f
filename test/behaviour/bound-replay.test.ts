import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import { AuthService } from '../../lib/index.ts'
import { assertUnproved, boundApp } from '../helpers/app/bound-app.ts'
import { authority, bareApp, RIGHTS, trusting, untyped } from '../helpers/app/guarded-app.ts'
import { outcome } from '../helpers/app/refusals.ts'
import { ageByDate, holdTime } from '../helpers/processes/age-by-date.ts'
import {
  boundToken,
  dpop,
  HOLDER,
  hashOf,
  PUBLIC,
  proofKey,
  proofOf,
  provedBy,
} from '../helpers/tokens/bound.ts'

const NOW = 1_800_000_000
/** The clock may be set back behind `NOW`. */
const YEAR = { expiresIn: 365 * 86_400, issuedAt: -365 * 86_400 }

/**
 * An application on a clock that the test moves. A wall clock that is set moves no ages.
 */
async function onMovedClock(
  t: TestContext,
  options: object = {},
  ages: 'ages too' | 'wall clock' = 'ages too',
) {
  t.mock.timers.enable({ apis: ['Date'], now: NOW * 1000 })
  if (ages === 'ages too') ageByDate(t)
  const app = await boundApp(t, options)
  const token = await boundToken(HOLDER, {}, YEAR)
  await app.ready()
  const ask = async (proof: string) =>
    (await app.inject({ url: '/me', headers: dpop(token, proof) })).statusCode
  const at = (seconds: number) => t.mock.timers.setTime(Math.round((NOW + seconds) * 1000))
  const issued = (seconds: number, jti: string = randomUUID()) =>
    proofOf(HOLDER, { token, claims: { iat: NOW + seconds, jti } })
  return { app, token, ask, at, issued }
}

test('the same proof is refused the second time', async (t) => {
  const app = await boundApp(t)
  const token = await boundToken()
  const headers = provedBy(HOLDER, token)
  assert.equal(outcome(await app.inject({ url: '/me', headers })), '200')
  for (const _ of [1, 2, 3]) {
    assertUnproved(await app.inject({ url: '/me', headers }), 'invalid_dpop_proof')
  }
  const fresh = provedBy(HOLDER, token)
  assert.equal(outcome(await app.inject({ url: '/me', headers: fresh })), '200')
})

test('of many requests at once with one proof one is let in', async (t) => {
  for (const proofSeen of [undefined, laterSeen()]) {
    const app = await boundApp(t, { ...(proofSeen && { proofSeen }) })
    const headers = provedBy(HOLDER, await boundToken())
    const all = await Promise.all(
      Array.from({ length: 20 }, () => app.inject({ url: '/me', headers })),
    )
    const statuses = all.map(({ statusCode }) => statusCode).sort()
    assert.deepEqual(statuses, [200, ...Array.from({ length: 19 }, () => 401)])
  }
})

function laterSeen() {
  const seen = new Set<string>()
  return async (key: string) => {
    await new Promise(setImmediate)
    const isNew = !seen.has(key)
    seen.add(key)
    return isNew
  }
}

/** Ages of a proof in seconds, negative: of the future, and whether it still counts. */
const AGES: readonly [age: number, proofMaxAge: number | undefined, counts: boolean][] = [
  [0, undefined, true],
  [299.9, undefined, true],
  [300.1, undefined, false],
  [300.9, undefined, false],
  [301, undefined, false],
  [-299.9, undefined, true],
  [-300, undefined, true],
  [-300.1, undefined, false],
  [-300.9, undefined, false],
  [-301, undefined, false],
  [86_400, undefined, false],
  [-86_400, undefined, false],
  [4.9, 5, true],
  [5.1, 5, false],
  [-4.9, 5, true],
  [-5.1, 5, false],
  [599.9, 600, true],
  [600.1, 600, false],
]

for (const [age, proofMaxAge, counts] of AGES) {
  test(`a proof of ${age} s ${counts ? 'counts' : 'does not count'} with ${proofMaxAge}`, async (t) => {
    for (const moved of [age, 0]) {
      // The clock moves on, or the client's is wrong.
      const { ask, at, issued } = await onMovedClock(t, {
        ...(proofMaxAge !== undefined && { proofMaxAge }),
        clockTolerance: 60,
      })
      at(moved)
      assert.equal(await ask(issued(moved - age)), counts ? 200 : 401)
      t.mock.timers.reset()
    }
  })
}

/** Seconds between the client's clock and ours when the proof is used first. */
const SKEWS = [0, 299, -299, 299.9, -299.9, 300, -300, 150, -150]

for (const skew of SKEWS) {
  test(`a proof of a clock that is ${skew} s wrong is never let in twice`, async (t) => {
    const { ask, at, issued } = await onMovedClock(t)
    const proof = issued(skew)
    const first = await ask(proof)
    if (Math.abs(skew) < 300) assert.equal(first, 200)
    const until = skew + 300
    const later = [0.001, 1, until - 1, until - 0.001, until, until + 0.001, until + 0.5]
    let admitted = first === 200 ? 1 : 0
    for (const seconds of [...later, until + 1, until + 1.5, until + 301]) {
      if (seconds < 0) continue
      at(seconds)
      if ((await ask(proof)) === 200) admitted += 1
    }
    assert.ok(admitted <= 1, `${admitted} times`)
  })
}

test('a proof is refused for all of its life, though many others come after it', async (t) => {
  const { ask, at, issued } = await onMovedClock(t)
  const proof = issued(299)
  assert.equal(await ask(proof), 200)
  for (let second = 0; second <= 600; second += 20) {
    at(second)
    assert.equal(await ask(issued(second)), 200)
    assert.equal(await ask(issued(second - 290)), 200)
    assert.equal(await ask(proof), 401)
  }
})

test('a clock that is set back makes no used proof new', async (t) => {
  const { ask, at, issued } = await onMovedClock(t, {}, 'wall clock')
  const proof = issued(0)
  assert.equal(await ask(proof), 200)
  for (const seconds of [-200, 250, -299, 0]) {
    at(seconds)
    assert.equal(await ask(proof), 401, `at ${seconds} s`)
  }
})

test('the same jti under another key is another proof', async (t) => {
  const app = await boundApp(t)
  const claims = { jti: 'one-id' }
  for (const key of [HOLDER, await proofKey(), await proofKey('EdDSA')]) {
    const headers = provedBy(key, await boundToken(key), { claims })
    assert.equal(outcome(await app.inject({ url: '/me', headers })), '200')
    assertUnproved(await app.inject({ url: '/me', headers }), 'invalid_dpop_proof')
  }
})

test('the same jti of the same key is used up, for other tokens, methods and addresses', async (t) => {
  const app = await boundApp(t)
  const claims = { jti: 'one-id' }
  const token = await boundToken()
  const other = await boundToken(HOLDER, { sub: 'another' })
  const first = provedBy(HOLDER, token, { claims })
  assert.equal(outcome(await app.inject({ url: '/me', headers: first })), '200')
  const requests = [
    { url: '/me', headers: provedBy(HOLDER, other, { claims }) },
    {
      url: '/query?tenant=lazy-raccoon',
      headers: provedBy(HOLDER, token, { claims, url: '/query' }),
    },
    { url: '/me', headers: provedBy(HOLDER, token, { claims: { ...claims, more: 1 } }) },
    { url: '/me', headers: provedBy(HOLDER, token, { claims, header: { kid: 'x' } }) },
    {
      url: '/me',
      headers: provedBy(HOLDER, token, { claims: { ...claims, htu: 'HTTPS://API.test:443/me?x' } }),
    },
    {
      method: 'POST' as const,
      url: '/me',
      headers: provedBy(HOLDER, token, { claims, method: 'POST' }),
    },
  ]
  for (const request of requests) assertUnproved(await app.inject(request), 'invalid_dpop_proof')
})

/** Refusals after the proof was found good: it is used up. */
const USED: readonly [url: string, first: string][] = [
  ['/t/foreign', '403 ERR_AUTH_TENANT_FORBIDDEN'],
  ['/needs/lazy-raccoon', '403 ERR_AUTH_RESOURCE_MISSING'],
  ['/t/quiet-otter', '404 ERR_AUTH_TENANT_UNKNOWN'],
  ['/query', '400 ERR_AUTH_TENANT_MISSING'],
  ['/t/revoked', '401 ERR_AUTH_TOKEN_INVALID'],
]

for (const [url, first] of USED) {
  test(`an answer ${first} has used its proof`, async (t) => {
    const app = await boundApp(t, {
      tenants: ['foreign', 'lazy-raccoon', 'revoked'],
      isRevoked: () => url.endsWith('revoked'),
    })
    const headers = provedBy(HOLDER, await boundToken(), { url })
    assert.equal(outcome(await app.inject({ url, headers })), first)
    assertUnproved(await app.inject({ url, headers }), 'invalid_dpop_proof')
    assert.equal(app.authService.stats().decisions.admitted, 0)
  })
}

test('two guards of one service share what they have seen, and two services do not', async (t) => {
  const options = trusting(untyped({ confirmation: 'check', publicUrl: PUBLIC }))
  const service = new AuthService(options)
  const other = new AuthService(options)
  const apps = await Promise.all(
    [service, service, other].map(async (each) => {
      const app = bareApp(t)
      await each.install(app)
      app.get('/me', async () => 'ok')
      return app
    }),
  )
  const headers = provedBy(HOLDER, await boundToken())
  const statuses: number[] = []
  for (const app of apps) statuses.push((await app.inject({ url: '/me', headers })).statusCode)
  assert.deepEqual(statuses, [200, 401, 200])
})

test('opaque tokens are proved as others, by the hash of their text', async (t) => {
  const claims = { iss: authority.issuer, aud: authority.audience, sub: 'u', resources: RIGHTS }
  const cnfs: Record<string, unknown> = {
    bound: { jkt: HOLDER.thumbprint },
    odd: 'x',
    free: undefined,
  }
  const opaqueToken = (token: string) => ({ ...claims, cnf: cnfs[token] })
  const app = await boundApp(t, { opaqueToken })
  for (const _ of ['unknown token', 'known token']) {
    const headers = provedBy(HOLDER, 'bound')
    assert.equal(outcome(await app.inject({ url: '/me', headers })), '200')
    assertUnproved(await app.inject({ url: '/me', headers }), 'invalid_dpop_proof')
    const wrong = dpop('bound', proofOf(HOLDER, { token: 'free' }))
    assertUnproved(await app.inject({ url: '/me', headers: wrong }), 'invalid_dpop_proof')
    const bare = { authorization: 'Bearer bound' }
    assertUnproved(await app.inject({ url: '/me', headers: bare }), 'invalid_token', 'Bearer')
    const free = { authorization: 'Bearer free' }
    assert.equal(outcome(await app.inject({ url: '/me', headers: free })), '200')
    const odd = { authorization: 'Bearer odd' }
    const shown = outcome(await app.inject({ url: '/me', headers: odd }))
    assert.equal(shown, '401 ERR_AUTH_TOKEN_INVALID')
  }
})

/** RFC 9449 §7.1. */
const EXAMPLE = {
  token: 'Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU',
  jkt: '0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I',
  iat: 1_562_262_618,
  proof: [
    'eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6Ik',
    'VDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0RscEJoRjQyVVFVZldWQVdCR',
    'nMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JE',
    'QSIsImNydiI6IlAtMjU2In19.eyJqdGkiOiJlMWozVl9iS2ljOC1MQUVCIiwiaHRtIj',
    'oiR0VUIiwiaHR1IjoiaHR0cHM6Ly9yZXNvdXJjZS5leGFtcGxlLm9yZy9wcm90ZWN0Z',
    'WRyZXNvdXJjZSIsImlhdCI6MTU2MjI2MjYxOCwiYXRoIjoiZlVIeU8ycjJaM0RaNTNF',
    'c05yV0JiMHhXWG9hTnk1OUlpS0NBcWtzbVFFbyJ9.2oW9RP35yRqzhrtNP86L-Ey71E',
    'OptxRimPPToA1plemAgR6pxHF8y6-yqyVnmcw6Fy1dqd-jfxSYoMxhAJpLjA',
  ].join(''),
}

test('the example of the RFC is let in at its time, once, and not at another', async (t) => {
  const { token, jkt, iat, proof } = EXAMPLE
  holdTime(t, { apis: ['Date'], now: (iat + 301) * 1000 })
  const { issuer: iss, audience: aud } = await createTestAuthority()
  const opaqueToken = (text: string) =>
    text === token ? { iss, aud, sub: 'u', resources: {}, cnf: { jkt } } : null
  const publicUrl = 'https://resource.example.org'
  const app = await boundApp(t, { opaqueToken, publicUrl })
  app.get('/protectedresource', async () => 'ok')
  const ask = async () =>
    (await app.inject({ url: '/protectedresource', headers: dpop(token, proof) })).statusCode
  assert.equal(await ask(), 401)
  t.mock.timers.setTime(iat * 1000)
  assert.equal(await ask(), 200)
  assert.equal(await ask(), 401)
  assert.equal(hashOf(token), 'fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo')
})
