import assert from 'node:assert/strict'
import { test } from 'node:test'
import { denyList } from '../../lib/entrypoints/revocation/index.ts'
import type { AuthOptions } from '../../lib/index.ts'
import { heard } from '../helpers/app/heard.ts'
import { assertRefused } from '../helpers/app/refusals.ts'
import { holdTime } from '../helpers/processes/age-by-date.ts'
import { until } from '../helpers/processes/until.ts'
import { EntryLog } from '../helpers/servers/entry-log.ts'
import { assertTokenRefused, goodToken, ISSUER, KEY, startProbe } from '../helpers/tokens/probe.ts'

test('a deny list as isRevoked refuses the tokens that its entries fit, cached ones too', async (t) => {
  const isRevoked = denyList()
  const probe = await startProbe(t, { isRevoked })
  const [alice, bob] = [goodToken(), goodToken({ sub: 'bob' })]
  assert.equal((await probe.ask(alice)).statusCode, 200)
  await isRevoked.add({ sub: 'alice', issuer: ISSUER })
  assertTokenRefused(await probe.ask(alice), 'alice')
  assert.equal((await probe.ask(bob)).statusCode, 200)
})

test('a token that outlives maxLifetime is refused, and an error in the log says why once', async (t) => {
  const probe = await startProbe(t, { isRevoked: denyList({ maxLifetime: 299 }) })
  for (let again = 0; again < 2; again++) assertTokenRefused(await probe.ask(goodToken()), 'long')
  const logged = probe.log.filter((line) => line.includes('lives longer than maxLifetime'))
  assert.deepEqual(
    logged.map((line) => JSON.parse(line).level),
    [50],
  )
})

const OUTLIVING: [what: string, claims: object][] = [
  ['has no iat', { iat: undefined }],
  ['lives longer than maxLifetime', { iat: Math.floor(Date.now() / 1000) - 90_000 }],
]

for (const [what, claims] of OUTLIVING) {
  test(`a JWT that ${what} is refused, with a reason of its own, also where a function asks`, async (t) => {
    const events = heard(t, 'decision')
    const list = denyList()
    const asking: AuthOptions['isRevoked'] = (user, token) => list(user, token)
    for (const isRevoked of [list, asking]) {
      const probe = await startProbe(t, { isRevoked })
      for (let again = 0; again < 2; again++) {
        assertTokenRefused(await probe.ask(goodToken(claims)), what)
      }
      const reasons = probe.log.filter((line) => line.includes('"outlives the deny list"'))
      assert.equal(reasons.length, 2)
    }
    assert.deepEqual(
      new Set(events.map(({ reason }) => reason)),
      new Set(['outlives the deny list']),
    )
  })
}

for (const whenStale of ['refuse', 'admit'] as const) {
  test(`a list with a store that a function asks, and no service has, lets nobody in (${whenStale})`, async (t) => {
    const { changes, append } = new EntryLog()
    const list = denyList({ changes, append, whenStale })
    const isRevoked: AuthOptions['isRevoked'] = (user, token) => list(user, token)
    const probe = await startProbe(t, { isRevoked })
    assertRefused(await probe.ask(goodToken()), 'ERR_AUTH_REVOCATION_UNAVAILABLE')
    const lines = probe.log.filter((line) => line.includes('ERR_DENY_LIST_NOT_GIVEN'))
    assert.match(lines.join(), /no service has the deny list itself as isRevoked/)
  })
}

test('a revoked JWT without iat does not come back to life when its entry ends', async (t) => {
  holdTime(t, { apis: ['Date'], now: Date.now() })
  const isRevoked = denyList({ maxLifetime: 600 })
  const probe = await startProbe(t, { isRevoked })
  const token = goodToken({ iat: undefined, exp: Math.floor(Date.now() / 1000) + 3600 })
  await isRevoked.add({ sub: 'alice', issuer: ISSUER })
  for (let minute = 0; minute < 50; minute++) {
    t.mock.timers.tick(60_000)
    assertTokenRefused(await probe.ask(token), `after ${minute} minutes`)
  }
})

test('an opaque token without an age is judged by the entries alone', async (t) => {
  const list = denyList()
  const probe = await startProbe(t, {
    isRevoked: list,
    opaqueToken: () => ({ iss: ISSUER, sub: 'alice', aud: 'api' }),
  })
  assert.equal((await probe.ask('opaque-1')).statusCode, 200)
  await list.add({ sub: 'alice', issuer: ISSUER, issuedBefore: new Date() })
  assertTokenRefused(await probe.ask('opaque-1'), 'an entry fits')
})

test('an entry until exp lasts as long as the token is accepted', async (t) => {
  holdTime(t, { apis: ['Date'], now: Math.floor(Date.now() / 1000) * 1000 })
  const isRevoked = denyList()
  const probe = await startProbe(t, { isRevoked, clockTolerance: 30 })
  const exp = Date.now() / 1000 + 60
  const revoked = goodToken({ jti: 'token-1', exp })
  await isRevoked.add({ jti: 'token-1', until: new Date(exp * 1000) })
  for (let seconds = 0; seconds < 100; seconds += 5) {
    assertTokenRefused(await probe.ask(revoked), `after ${seconds} s`)
    t.mock.timers.tick(5000)
  }
})

test('the names of a mapped user in an event and an authorization can be revoked', async (t) => {
  const events = heard(t, 'decision')
  const isRevoked = denyList()
  const mapClaims = (claims: object) => ({ ...claims, sub: `own:${Object(claims).sub}` })
  const probe = await startProbe(t, { isRevoked, mapClaims })
  assert.equal((await probe.ask(goodToken())).statusCode, 200)
  const [{ sub, tokenSub, issuer } = assert.fail('there was no event')] = events
  assert.deepEqual([sub, tokenSub, issuer], ['own:alice', 'alice', ISSUER])
  await isRevoked.add({ sub: tokenSub ?? '', issuer })
  assertTokenRefused(await probe.ask(goodToken()), 'alice')
})

test('ten customers who log out many fill the list for nobody, and the service is ready', async (t) => {
  const issuers = Array.from({ length: 10 }, (_, i) => ({
    ...{ issuer: `https://${i}.test`, audience: 'api', tenants: '*' as const },
    publicKeys: { keys: [KEY.publicJwk] },
  }))
  const isRevoked = denyList({ maxEntries: 1000 })
  const options = { issuer: undefined, audience: undefined, publicKeys: undefined }
  const probe = await startProbe(t, { ...options, issuers, isRevoked })
  for (const { issuer } of issuers) {
    for (let i = 0; i < 200; i++) await isRevoked.add({ sub: `user-${i}`, issuer })
  }
  assert.equal(probe.service.isReady(), true)
  for (const { issuer } of issuers) {
    assert.equal((await probe.ask(goodToken({ iss: issuer }))).statusCode, 200, issuer)
    const left = await probe.ask(goodToken({ iss: issuer, sub: 'user-199' }))
    assert.notEqual(left.statusCode, 200)
  }
})

test('a service is ready when its deny list is, and answers 503 before', async (t) => {
  const log = new EntryLog()
  const answers: (() => void)[] = []
  log.onAnswer = (answer) => new Promise((resolve) => answers.push(() => resolve(answer)))
  const isRevoked = denyList({ changes: log.changes })
  const probe = await startProbe(t, { isRevoked })
  assert.equal(probe.service.isReady(), false)
  assertRefused(await probe.ask(goodToken()), 'ERR_AUTH_REVOCATION_UNAVAILABLE')
  const found = probe.log.some((line) => line.includes('ERR_DENY_LIST_NOT_LOADED'))
  assert.ok(found, 'the log says why')
  answers[0]?.()
  await until(() => probe.service.isReady())
  assert.equal((await probe.ask(goodToken())).statusCode, 200)
})

test('two services share a list, which ends with the last of them', async (t) => {
  const log = new EntryLog()
  const isRevoked = denyList({ changes: log.changes, interval: 0.1 })
  const first = await startProbe(t, { isRevoked })
  const second = await startProbe(t, { isRevoked })
  await until(() => second.service.isReady())
  await first.app.close()
  const asked = log.asked.length
  await until(() => log.asked.length > asked)
  await second.app.close()
  const last = log.asked.length
  isRevoked.wake()
  await new Promise((resolve) => setTimeout(resolve, 300))
  assert.equal(log.asked.length, last)
})
