import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { type DenyListOptions, denyList } from '../../lib/entrypoints/revocation/index.ts'
import { DynamicIssuers } from '../../lib/identity/authentication/dynamic-issuers.ts'
import { AuthService, type DocumentEvent } from '../../lib/index.ts'
import { PendingRequests } from '../../lib/platform/callbacks/pending-requests.ts'
import { as, authority, bareApp, trusting, untyped } from '../helpers/app/guarded-app.ts'
import { heard } from '../helpers/app/heard.ts'
import { outcome } from '../helpers/app/refusals.ts'
import { holdTime } from '../helpers/processes/age-by-date.ts'
import { until } from '../helpers/processes/until.ts'
import { EntryLog } from '../helpers/servers/entry-log.ts'
import { KeyServer } from '../helpers/servers/key-server.ts'
import { attend, SECOND, settled, stopClocks, verdictOf } from '../helpers/tokens/denied.ts'

const ISSUER = authority.options.issuer
const { publicKeys } = authority

/** What became of what, in short. */
function changes(events: readonly DocumentEvent[]): string[] {
  return events.map(({ event, age, reason }) => [event, age, reason].join(' ').trim())
}

/** A clock that the test moves, while timers and network go on. */
function movedClock(t: TestContext) {
  holdTime(t, { apis: ['Date'], now: 0 })
  return (seconds: number) => t.mock.timers.setTime(seconds * SECOND)
}

for (const [kind, name, options] of [
  ['keys', 'authority.test', (url: string) => ({ publicKeysUrl: url, keysMaxAge: 100 })],
  [
    'tenants',
    'tenants',
    (url: string) => ({ ...trusting(), tenants: url, tenantsMaxAge: 100, keysMaxStale: 50 }),
  ],
] as const) {
  test(`${kind} are reported as fetched, failed, stale and gone, each once, by their name`, async (t) => {
    const events = heard(t, 'document')
    const server = await KeyServer.start(() => (kind === 'keys' ? publicKeys : ['acme']))
    t.after(() => server.close())
    const { issuer, audience } = authority.options
    const service = new AuthService({
      issuer,
      audience,
      keysMaxStale: 50,
      keysRetry: 10,
      keysCooldown: 10,
      ...options(server.url),
    })
    t.after(() => service.close())
    const at = movedClock(t)
    await service.install(bareApp(t))
    await until(() => events.length === 1)
    const [first] = events
    assert.deepEqual(first, { kind, name, event: 'fetched', age: 0, reason: null })
    assert.equal(Object.isFrozen(first), true)

    await server.fail('refused')
    at(90)
    service.isReady()
    await until(() => events.length === 2)
    const failure = String(events[1]?.reason)
    assert.match(failure, /^no answer \(\w+\)$/)
    at(99)
    service.isReady()
    at(101)
    service.isReady()
    service.isReady()
    await until(() => events.length >= 4)
    at(149)
    service.isReady()
    await setImmediate()
    at(151)
    assert.equal(service.isReady(), false)
    service.isReady()
    await until(() => events.some(({ event }) => event === 'gone'))
    const states = events.filter(({ event }) => event !== 'failed')
    assert.deepEqual(changes(states), ['fetched 0', `stale 101 ${failure}`, `gone 151 ${failure}`])
    assert.equal(new Set(events.map((each) => each.kind + each.name)).size, 1)
    await server.fail(null)
    at(200)
    service.isReady()
    await until(() => events.at(-1)?.event === 'fetched')
    assert.equal(events.at(-1)?.age, 0)
  })
}

test('what grows old is found by a failed fetch too, without a request', async (t) => {
  const events = heard(t, 'document')
  const server = await KeyServer.start(() => publicKeys)
  t.after(() => server.close())
  const service = new AuthService({ publicKeysUrl: server.url, keysMaxAge: 100, keysMaxStale: 0 })
  t.after(() => service.close())
  const at = movedClock(t)
  await service.install(bareApp(t))
  await until(() => events.length === 1)
  await server.fail('refused')
  at(101)
  await assert.rejects(service.refreshKeys(), { code: 'ERR_AUTH_KEYS_UNAVAILABLE' })
  const shown = events.map(({ event }) => event)
  assert.deepEqual(shown, ['fetched', 'failed', 'gone'])
})

/** An application whose issuers a function returns, with a clock that the test moves. */
async function asking(t: TestContext, answer: () => unknown) {
  const events = heard(t, 'document')
  const at = movedClock(t)
  const app = bareApp(t)
  const service = new AuthService(
    untyped({ issuers: answer, issuersMaxAge: 100, keysMaxStale: 50, keysCooldown: 1 }),
  )
  await service.install(app)
  app.get('/x', async () => 'x')
  const ask = async () => {
    // A token that no move of the clock makes old.
    const { authorization } = await as({}, { iat: 0, exp: 99_999 })
    return outcome(await app.inject({ url: '/x', headers: { authorization } }))
  }
  return { events, at, ask, service }
}

const RULES = { audience: authority.options.audience, tenants: '*', publicKeys }

test('an answer of an issuers function is reported as fetched, failed, stale and gone', async (t) => {
  let answer: () => unknown = () => RULES
  const { events, at, ask } = await asking(t, () => answer())
  assert.equal(await ask(), '200')
  assert.deepEqual(events, [
    { kind: 'issuer', name: ISSUER, event: 'fetched', age: 0, reason: null },
  ])
  answer = () => {
    throw new TypeError('on purpose')
  }
  at(90)
  assert.equal(await ask(), '200')
  at(101)
  assert.equal(await ask(), '200')
  at(120)
  assert.equal(await ask(), '200')
  at(160)
  assert.equal(await ask(), '503 ERR_AUTH_ISSUERS_UNAVAILABLE')
  const failure = 'the issuers function failed (TypeError)'
  assert.deepEqual(changes(events), [
    'fetched 0',
    `failed 90 ${failure}`,
    `failed 101 ${failure}`,
    `stale 101 ${failure}`,
    `failed 120 ${failure}`,
    `failed 160 ${failure}`,
    `gone 160 ${failure}`,
  ])
  answer = () => ({ ...RULES })
  at(200)
  assert.equal(await ask(), '200')
  assert.deepEqual(changes(events).at(-1), 'fetched 0')
})

test('an issuer that the function knows no more is gone, and one that it never knew is not reported', async (t) => {
  let answer: unknown = null
  const { events, at, ask } = await asking(t, () => answer)
  assert.equal(await ask(), '401 ERR_AUTH_TOKEN_INVALID')
  assert.deepEqual(events, [])
  answer = RULES
  at(10)
  assert.equal(await ask(), '200')
  answer = null
  at(120)
  assert.equal(await ask(), '401 ERR_AUTH_TOKEN_INVALID')
  assert.deepEqual(changes(events), ['fetched 0', 'gone'])
})

test('a function that fails for an issuer that was never known is named by what was asked', async (t) => {
  const { events, ask } = await asking(t, () => 'no rules')
  assert.equal(await ask(), '503 ERR_AUTH_ISSUERS_UNAVAILABLE')
  const reason = 'the issuers function gave no usable answer'
  assert.deepEqual(events, [{ kind: 'issuer', name: ISSUER, event: 'failed', age: null, reason }])
})

test('what reading an answer throws is reported in constant words', async (t) => {
  const events = heard(t, 'document')
  const issuers = new DynamicIssuers({
    ask: () => null,
    read: () => {
      throw new RangeError('secret')
    },
    keysOf: () => assert.fail('there is no entry'),
    rightsOf: () => assert.fail('there is no entry'),
    issuerOf: () => assert.fail('there is no entry'),
    warn: () => assert.fail('nobody is displaced'),
    issuersMax: 1,
    timeout: 5,
    maxAge: 5,
    maxStale: 5,
    cooldown: 5,
  })
  const unavailable = { code: 'ERR_AUTH_ISSUERS_UNAVAILABLE' }
  assert.throws(() => issuers.find({ iss: 'https://a.test' }, new PendingRequests()), unavailable)
  assert.deepEqual(changes(events), ['failed  the issuers function gave no usable answer'])
})

/** A deny list with clocks that the test moves. */
function startedList(t: TestContext, options: DenyListOptions<number> = {}) {
  const clocks = stopClocks(t)
  const events = heard(t, 'document')
  const log = new EntryLog()
  const state = { isDown: false }
  const list = denyList<number>({
    changes: (cursor) => (state.isDown ? assert.fail('down') : log.changes(cursor)),
    append: log.append,
    interval: 10,
    maxStale: 30,
    ...options,
  })
  const { attendant } = attend(t, list)
  return { ...clocks, events, list, state, attendant }
}

for (const [whenStale, change, state] of [
  ['refuse', 'gone', 'none'],
  ['admit', 'stale', 'stale'],
] as const) {
  test(`a deny list that is old is reported as ${change} where it has to ${whenStale}`, async (t) => {
    const { events, pass, list, state: source, attendant } = startedList(t, { whenStale })
    assert.deepEqual(attendant.state(), { state: 'none', age: null, failure: null })
    await settled()
    const [first] = events
    const fetched = { kind: 'denyList', name: 'denyList', event: 'fetched', age: 0, reason: null }
    assert.deepEqual(first, fetched)
    assert.deepEqual(attendant.state(), { state: 'fresh', age: 0, failure: null })
    source.isDown = true
    await pass(10 * SECOND)
    assert.deepEqual(changes(events).slice(1), ['failed 10 ERR_ASSERTION'])
    await pass(21 * SECOND)
    for (const _ of [1, 2]) verdictOf(list)
    const failures = events.filter(({ event }) => event === 'failed')
    assert.equal(failures.length, 3)
    assert.deepEqual(changes(events.filter(({ event }) => event === change)), [
      `${change} 31 ERR_ASSERTION`,
    ])
    assert.deepEqual(attendant.state(), { state, age: 31, failure: 'ERR_ASSERTION' })
  })
}

test('the list of one process alone is no document', () => {
  const list = denyList()
  const service = new AuthService(trusting({ isRevoked: list }))
  const shown = service.stats().documents.map(({ kind }) => kind)
  assert.deepEqual(shown, ['keys'])
})

test('stats has a deny list among its documents', async (t) => {
  const log = new EntryLog()
  const list = denyList<number>({ changes: log.changes, append: log.append })
  const service = new AuthService(trusting({ isRevoked: list }))
  const kinds = () => service.stats().documents.map(({ kind, name, state }) => [kind, name, state])
  assert.deepEqual(kinds().at(-1), ['denyList', 'denyList', 'none'])
  await service.install(bareApp(t))
  await list.ready()
  assert.deepEqual(kinds().at(-1), ['denyList', 'denyList', 'fresh'])
})
