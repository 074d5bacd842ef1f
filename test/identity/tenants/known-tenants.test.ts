import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  AnyTenant,
  ListedTenants,
  TenantsByFunction,
} from '../../../lib/identity/tenants/known-tenants.ts'
import { PendingRequests } from '../../../lib/platform/callbacks/pending-requests.ts'
import { clock } from '../../../lib/platform/runtime/clock.ts'
import { assertRefused, outcome } from '../../helpers/app/refusals.ts'
import { tenantRoute } from '../../helpers/app/tenant-route.ts'
import { ageByDate } from '../../helpers/processes/age-by-date.ts'
import { until } from '../../helpers/processes/until.ts'

test('without configuration each tenant exists, and no request waits', () => {
  const known = new AnyTenant()
  known.open()
  assert.deepEqual([known.isReady, known.has()], [true, true])
  known.close()
})

const WAITS = new PendingRequests()
const UNKNOWN = '404 ERR_AUTH_TENANT_UNKNOWN'

for (const [how, answer] of [
  ['at once', (name: string) => name === 'real'],
  ['later', async (name: string) => name === 'real'],
] as const) {
  test(`a function that answers ${how} knows the tenants, and is asked by their names`, async (t) => {
    const asked: string[] = []
    const get = await tenantRoute(t, {
      tenants: (name: string) => {
        asked.push(name)
        return answer(name)
      },
    })
    assert.equal(outcome(await get('real')), '200')
    assert.equal(outcome(await get('ghost')), UNKNOWN)
    assert.deepEqual(asked, ['real', 'ghost'])
  })
}

/** Answers that decide nothing. */
const BAD_ANSWERS: readonly [what: string, tenants: () => unknown][] = [
  ['throws', () => JSON.parse('')],
  ['rejects', () => Promise.reject(new Error('down'))],
  ['is late', () => new Promise(() => {})],
  ['gives undefined', () => undefined],
  ['gives null', async () => null],
  ['gives 1', () => 1],
  ["gives 'true'", async () => 'true'],
  ['gives a list', () => ['real']],
]

for (const [what, tenants] of BAD_ANSWERS) {
  test(`a function that ${what} is a 503, never an open door, and is asked again`, async (t) => {
    let asked = 0
    const counted = () => {
      asked++
      return tenants()
    }
    const get = await tenantRoute(t, { tenants: counted, tenantsTimeout: 0.02 })
    assertRefused(await get('real'), 'ERR_AUTH_TENANTS_UNAVAILABLE')
    assertRefused(await get('real'), 'ERR_AUTH_TENANTS_UNAVAILABLE')
    assert.equal(asked, 2)
  })
}

test('requests that arrive together ask once, each tenant for itself', async (t) => {
  const asked: string[] = []
  const answers: (() => void)[] = []
  const get = await tenantRoute(t, {
    tenants(name: string) {
      asked.push(name)
      return new Promise((resolve) => answers.push(() => resolve(name === 'real')))
    },
  })
  const together = ['real', 'ghost', 'real', 'real', 'ghost'].map((name) => get(name))
  await until(() => answers.length === 2)
  for (const answer of answers) answer()
  const outcomes = (await Promise.all(together)).map(outcome)
  assert.deepEqual(outcomes, ['200', UNKNOWN, '200', '200', UNKNOWN])
  assert.deepEqual(asked, ['real', 'ghost'])
})

test('a failure is shared by the requests that wait for it, but not by later ones', async (t) => {
  let asked = 0
  const get = await tenantRoute(t, {
    tenants: () => (asked++ === 0 ? Promise.reject(new Error('down')) : true),
  })
  for (const response of await Promise.all([get('real'), get('real')])) {
    assertRefused(response, 'ERR_AUTH_TENANTS_UNAVAILABLE')
  }
  assert.equal(outcome(await get('real')), '200')
  assert.equal(asked, 2)
})

test("a function's true is kept for tenantsMaxAge, its false never", (t) => {
  t.mock.timers.enable({ apis: ['Date'] })
  ageByDate(t)
  const asked: string[] = []
  const exists = (name: string) => {
    asked.push(name)
    return name === 'real'
  }
  const known = new TenantsByFunction(exists, { timeout: 5, maxAge: 60 })
  assert.deepEqual(
    [known.has('real', WAITS), known.has('real', WAITS), known.has('ghost', WAITS)],
    [true, true, false],
  )
  assert.equal(known.has('ghost', WAITS), false)
  assert.deepEqual(asked.splice(0), ['real', 'ghost', 'ghost'])
  t.mock.timers.tick(59_999)
  void known.has('real', WAITS)
  assert.deepEqual(asked, [])
  t.mock.timers.tick(1)
  void known.has('real', WAITS)
  assert.deepEqual(asked, ['real'])
})

test('a tenant that ceases to exist is unknown at the next answer', (t) => {
  t.mock.timers.enable({ apis: ['Date'] })
  ageByDate(t)
  let exists = true
  const known = new TenantsByFunction(() => exists, { timeout: 5, maxAge: 60 })
  assert.equal(known.has('real', WAITS), true)
  exists = false
  t.mock.timers.tick(60_000)
  assert.equal(known.has('real', WAITS), false)
})

test('a tenant is known for the same time if the wall clock is set', (t) => {
  let passed = 0
  t.mock.method(clock, 'now', () => passed)
  t.mock.timers.enable({ apis: ['Date'] })
  let asked = 0
  const known = new TenantsByFunction(() => ++asked > 0, { timeout: 5, maxAge: 60 })
  void known.has('real', WAITS)
  for (const time of [4_000_000_000_000, 0, 2_000_000_000_000]) {
    t.mock.timers.setTime(time)
    void known.has('real', WAITS)
  }
  assert.equal(asked, 1)
  passed = 60_000
  t.mock.timers.setTime(0)
  void known.has('real', WAITS)
  assert.equal(asked, 2)
})

test('with tenantsMaxAge 0 every request asks', async (t) => {
  let asked = 0
  const get = await tenantRoute(t, { tenants: () => ++asked > 0, tenantsMaxAge: 0 })
  for (const _ of [1, 2, 3]) assert.equal(outcome(await get('real')), '200')
  assert.equal(asked, 3)
})

test('closing ends the questions that are open, and opening again asks anew', async () => {
  const answers: ((exists: boolean) => void)[] = []
  const exists = () => new Promise<boolean>((resolve) => void answers.push(resolve))
  const known = new TenantsByFunction(exists, { timeout: 60, maxAge: 60 })
  known.open()
  const ended = assert.rejects(async () => known.has('real', WAITS), {
    code: 'ERR_AUTH_TENANTS_UNAVAILABLE',
  })
  known.close()
  await ended
  known.open()
  const asked = known.has('real', WAITS)
  answers[1]?.(true)
  assert.equal(await asked, true)
})

test('no more than 100 000 tenants are remembered, and the oldest goes first', () => {
  let asked = 0
  const known = new TenantsByFunction(() => ++asked > 0, { timeout: 5, maxAge: 60 })
  for (let i = 0; i <= 100_000; i++) void known.has(`tenant-${i}`, WAITS)
  assert.equal(asked, 100_001)
  void known.has('tenant-1', WAITS)
  void known.has('tenant-100000', WAITS)
  assert.equal(asked, 100_001)
  void known.has('tenant-0', WAITS)
  assert.equal(asked, 100_002)
})

test('it is ready from the first, and a refusal names the second after which to ask again', () => {
  const known = new TenantsByFunction(() => JSON.parse(''), { timeout: 5, maxAge: 60 })
  assert.equal(known.isReady, true)
  assert.throws(() => known.has('real', WAITS), {
    code: 'ERR_AUTH_TENANTS_UNAVAILABLE',
    retryAfter: 1,
  })
})

test('the function gets the name alone, and no object of ours', (t) => {
  const exists = t.mock.fn((_name: string) => true)
  const known = new TenantsByFunction(exists, { timeout: 5, maxAge: 60 })
  void known.has('real', WAITS)
  assert.deepEqual(exists.mock.calls[0]?.arguments, ['real'])
  assert.equal(exists.mock.calls[0]?.this, undefined)
})

test('a list knows the tenants on it, and no others', () => {
  const known = new ListedTenants(['real', 'real', 'quiet-otter'])
  known.open()
  assert.equal(known.isReady, true)
  assert.deepEqual(
    ['real', 'quiet-otter'].map((name) => known.has(name)),
    [true, true],
  )
  for (const name of ['ghost', 'Real', 'constructor', '__proto__', '', 'length', '0']) {
    assert.equal(known.has(name), false, name)
  }
  known.close()
})

test('the list is copied', () => {
  const names = ['real']
  const known = new ListedTenants(names)
  names.push('ghost')
  assert.equal(known.has('ghost'), false)
})
