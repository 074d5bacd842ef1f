import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { type AuthOptions, AuthService } from '../../lib/index.ts'
import { as, bareApp, trusting } from '../helpers/app/guarded-app.ts'
import { assertRefused, outcome } from '../helpers/app/refusals.ts'
import { until } from '../helpers/processes/until.ts'

const PLACES = 64
const LONGEST_LINE = 1000

/** Two applications of one service. The check `slow` answers when it is let go on. */
async function start(t: TestContext, options: AuthOptions = {}) {
  let open = 0
  let goOn = (): void => {}
  const isFree = new Promise<void>((resolve) => {
    goOn = resolve
  })
  const slow = async () => {
    open += 1
    await isFree
    return true
  }
  const checks = { slow, quick: () => true }
  const service = new AuthService(trusting({ checks, tenantsTimeout: 60, ...options }))
  const apps = [bareApp(t), bareApp(t)]
  for (const app of apps) {
    await service.install(app)
    app.get('/:tenant/slow', { config: { check: 'slow' } }, async () => 'x')
    app.get('/:tenant/quick', { config: { check: 'quick' } }, async () => 'x')
    app.get('/:tenant/held', { config: { check: 'slow', require: 'a:b' } }, async () => 'x')
  }
  const headers = await as({ acme: [] })
  const ask = async (url: string, of = 0) => {
    const app = apps[of] ?? assert.fail('there are two')
    return app.inject({ url: `/acme/${url}`, headers })
  }
  return { ask, opened: () => open, goOn }
}

test('the places of a check are of its name, and of all applications of the service', async (t) => {
  const { ask, opened, goOn } = await start(t)
  const asked = Array.from({ length: PLACES }, (_, i) => ask('slow', i % 2))
  await until(() => opened() === PLACES)
  const late = [ask('slow', 0), ask('slow', 1)]
  assert.equal(outcome(await ask('quick')), '200')
  assert.equal(opened(), PLACES)
  goOn()
  for (const response of await Promise.all([...asked, ...late])) {
    assert.equal(outcome(response), '200')
  }
  assert.equal(opened(), PLACES + 2)
})

test('where no place in the line of a check is left, the answer is 503 at once', async (t) => {
  const { ask, opened, goOn } = await start(t)
  const asked = Array.from({ length: PLACES + LONGEST_LINE }, () => ask('slow'))
  await until(() => opened() === PLACES)
  for (let turns = 0; turns < 100; turns++) await setImmediate()
  assertRefused(await ask('slow'), 'ERR_AUTH_CHECK_UNAVAILABLE')
  goOn()
  for (const response of await Promise.all(asked)) assert.equal(outcome(response), '200')
})

test('each request asks anew, and none that lacks what the route requires', async (t) => {
  const { ask, opened, goOn } = await start(t)
  goOn()
  for (const count of [1, 2]) {
    assert.equal(outcome(await ask('slow')), '200')
    assert.equal(opened(), count)
  }
  assertRefused(await ask('held'), 'ERR_AUTH_RESOURCE_MISSING', 'a:b')
  assert.equal(opened(), 2)
})
