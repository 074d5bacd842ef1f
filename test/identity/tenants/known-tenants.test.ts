import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { TenantsByFunction } from '../../../lib/identity/tenants/known-tenants.ts'
import { PendingRequests } from '../../../lib/platform/callbacks/pending-requests.ts'
import { clock } from '../../../lib/platform/runtime/clock.ts'
import { as, guardedApp } from '../../helpers/app/guarded-app.ts'
import { assertRefused, outcome } from '../../helpers/app/refusals.ts'
import { holdTime } from '../../helpers/processes/age-by-date.ts'

const WAITS = new PendingRequests()
const UNKNOWN = '404 ERR_AUTH_TENANT_UNKNOWN'

const USER = await as({ real: [], ghost: [], constructor: [] })

/** Gets the answers to a user of these tenants. */
async function tenantRoute(t: TestContext, options: object) {
  const app = await guardedApp(t, options)
  app.get('/:tenant/x', async () => 'x')
  return (tenant: string) => app.inject({ url: `/${tenant}/x`, headers: USER })
}

test('without configuration, every tenant that a user may act for exists', async (t) => {
  const get = await tenantRoute(t, {})
  assert.equal(outcome(await get('ghost')), '200')
})

test('a list knows the tenants on it, and is copied', async (t) => {
  const tenants = ['real']
  const get = await tenantRoute(t, { tenants })
  tenants.push('ghost')
  assert.equal(outcome(await get('real')), '200')
  assert.equal(outcome(await get('ghost')), UNKNOWN)
  assert.equal(outcome(await get('constructor')), UNKNOWN)
})

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
  ['rejects', () => Promise.reject(new Error('down'))],
  ['gives undefined', () => undefined],
  ['gives null', async () => null],
  ['gives 1', () => 1],
  ["gives 'true'", async () => 'true'],
  ['gives a list', () => ['real']],
]

for (const [what, tenants] of BAD_ANSWERS) {
  test(`a function that ${what} is a 503, never an open door, and is asked again`, async (t) => {
    const counted = t.mock.fn(() => tenants())
    const get = await tenantRoute(t, { tenants: counted })
    assertRefused(await get('real'), 'ERR_AUTH_TENANTS_UNAVAILABLE')
    assertRefused(await get('real'), 'ERR_AUTH_TENANTS_UNAVAILABLE')
    assert.equal(counted.mock.callCount(), 2)
  })
}

test("a function's true is kept for tenantsMaxAge, its false never", (t) => {
  holdTime(t, { apis: ['Date'] })
  const asked: string[] = []
  const exists = (name: string) => {
    asked.push(name)
    return name === 'real'
  }
  const known = new TenantsByFunction(exists, { timeout: 5, maxAge: 60 })
  assert.deepEqual(
    [known.stateOf('real', WAITS), known.stateOf('real', WAITS), known.stateOf('ghost', WAITS)],
    [true, true, false],
  )
  assert.equal(known.stateOf('ghost', WAITS), false)
  assert.deepEqual(asked.splice(0), ['real', 'ghost', 'ghost'])
  t.mock.timers.tick(59_999)
  void known.stateOf('real', WAITS)
  assert.deepEqual(asked, [])
  t.mock.timers.tick(1)
  void known.stateOf('real', WAITS)
  assert.deepEqual(asked, ['real'])
})

test('a tenant is known for the same time if the wall clock is set', (t) => {
  let passed = 0
  t.mock.method(clock, 'now', () => passed)
  t.mock.timers.enable({ apis: ['Date'] })
  let asked = 0
  const known = new TenantsByFunction(() => ++asked > 0, { timeout: 5, maxAge: 60 })
  void known.stateOf('real', WAITS)
  for (const time of [4_000_000_000_000, 0, 2_000_000_000_000]) {
    t.mock.timers.setTime(time)
    void known.stateOf('real', WAITS)
  }
  assert.equal(asked, 1)
  passed = 60_000
  t.mock.timers.setTime(0)
  void known.stateOf('real', WAITS)
  assert.equal(asked, 2)
})

test('with tenantsMaxAge 0 every request asks', async (t) => {
  let asked = 0
  const get = await tenantRoute(t, { tenants: () => ++asked > 0, tenantsMaxAge: 0 })
  for (const _ of [1, 2, 3]) assert.equal(outcome(await get('real')), '200')
  assert.equal(asked, 3)
})

test('no more than 100 000 tenants are remembered, and the oldest goes first', () => {
  let asked = 0
  const known = new TenantsByFunction(() => ++asked > 0, { timeout: 5, maxAge: 60 })
  for (let i = 0; i <= 100_000; i++) void known.stateOf(`tenant-${i}`, WAITS)
  assert.equal(asked, 100_001)
  void known.stateOf('tenant-1', WAITS)
  void known.stateOf('tenant-100000', WAITS)
  assert.equal(asked, 100_001)
  void known.stateOf('tenant-0', WAITS)
  assert.equal(asked, 100_002)
})

test('the function gets the name alone, and no object of ours', (t) => {
  const exists = t.mock.fn((_name: string) => true)
  const known = new TenantsByFunction(exists, { timeout: 5, maxAge: 60 })
  void known.stateOf('real', WAITS)
  assert.deepEqual(exists.mock.calls[0]?.arguments, ['real'])
  assert.equal(exists.mock.calls[0]?.this, undefined)
})
