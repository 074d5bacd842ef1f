import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { WATCH, type WatchRevocation } from '../../lib/authentication/watch-revocation.ts'
import { AdmissionEnd } from '../../lib/guard/abort-signal.ts'
import { type AuthContext, admittedContextOf } from '../../lib/guard/context.ts'
import type { AuthOptions } from '../../lib/index.ts'
import { clock } from '../../lib/outside/clock.ts'
import { authority, guardedApp } from '../helpers/app/guarded-app.ts'
import { ageByDate } from '../helpers/processes/age-by-date.ts'

/** How a request of a token that lasts so many seconds was let through. */
async function admitted(
  t: TestContext,
  expiresIn: number,
  options: AuthOptions = {},
  opaque?: string,
) {
  const app = await guardedApp(t, options)
  let context: AuthContext | undefined
  app.get('/', async (request) => {
    context = admittedContextOf(request)
  })
  const token = opaque ?? (await authority.token({ jti: 'j' }, { expiresIn }))
  await app.inject({ url: '/', headers: { authorization: `Bearer ${token}` } })
  assert.ok(context, 'the request was let through')
  return context
}

/** A list that tells whom it watches, and of which the test revokes. */
function watchedList() {
  const watched = new Set<() => void>()
  const tokens: (string | null)[] = []
  const watch: WatchRevocation = (token, revoked) => {
    watched.add(revoked)
    tokens.push(token.jti)
    return () => watched.delete(revoked)
  }
  return { isRevoked: Object.assign(() => false, { [WATCH]: watch }), watched, tokens }
}

test('an admission ends with its token and the tolerance, to the millisecond', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_800_000_000_000 })
  ageByDate(t)
  const { signal } = new AdmissionEnd(await admitted(t, 30, { clockTolerance: 7 }))
  t.mock.timers.tick(36_999)
  assert.equal(signal.aborted, false)
  t.mock.timers.tick(1)
  assert.equal(signal.aborted, true)
  assert.equal(signal.reason.reason, 'expired')
})

test('an admission by an answer without exp ends with the answer, without a tolerance', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_800_000_000_000 })
  ageByDate(t)
  const claims = { iss: authority.issuer, aud: authority.audience, sub: 'machine' }
  const options = { opaqueToken: async () => claims, opaqueMaxAge: 20, clockTolerance: 7 }
  const { signal } = new AdmissionEnd(await admitted(t, 30, options, 'key'))
  t.mock.timers.tick(19_999)
  assert.equal(signal.aborted, false)
  t.mock.timers.tick(1)
  assert.equal(signal.aborted, true)
})

test('whether the wall clock was set is looked at once a minute', async (t) => {
  const context = await admitted(t, 86_400)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  t.mock.method(clock, 'now', () => 0)
  const { signal } = new AdmissionEnd(context)
  const tomorrow = Date.now() + 90_000_000
  t.mock.method(Date, 'now', () => tomorrow)
  t.mock.timers.tick(59_999)
  assert.equal(signal.aborted, false)
  t.mock.timers.tick(1)
  assert.equal(signal.aborted, true)
})

test('a token is watched up to the end of its admission', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_800_000_000_000 })
  ageByDate(t)
  const { isRevoked, watched, tokens } = watchedList()
  const context = await admitted(t, 30, { isRevoked })
  const ends = [new AdmissionEnd(context), new AdmissionEnd(context), new AdmissionEnd(context)]
  assert.deepEqual(tokens, ['j', 'j', 'j'])
  const [revoke] = watched
  revoke?.()
  assert.equal(ends[0]?.signal.reason.reason, 'revoked')
  assert.equal(watched.size, 2)
  ends[1]?.letGo()
  assert.equal(watched.size, 1)
  t.mock.timers.tick(60_000)
  assert.deepEqual(
    ends.map(({ signal }) => signal.aborted),
    [true, false, true],
  )
  assert.equal(watched.size, 0)
})

test('a token that has expired already is not watched', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_800_000_000_000 })
  const { isRevoked, watched } = watchedList()
  const context = await admitted(t, 30, { isRevoked })
  t.mock.timers.setTime(1_800_000_034_999)
  const last = new AdmissionEnd(context)
  assert.deepEqual([last.signal.aborted, watched.size], [false, 1])
  last.letGo()
  t.mock.timers.setTime(1_800_000_035_000)
  assert.equal(new AdmissionEnd(context).signal.aborted, true)
  assert.equal(watched.size, 0)
})

test('a mock user has no token that could be watched', async (t) => {
  const { isRevoked, watched } = watchedList()
  const end = new AdmissionEnd(await admitted(t, 30, { devMode: true, isRevoked }))
  assert.deepEqual([end.signal.aborted, watched.size], [false, 0])
  end.letGo()
})
