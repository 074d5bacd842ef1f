import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Exchanges } from '../../../lib/entrypoints/introspection/exchanges.ts'
import {
  type AcceptedIssuers,
  LIFECYCLE,
  Lifecycle,
  lifecycleOf,
} from '../../../lib/platform/callbacks/lifecycle.ts'
import { askedServer } from '../../helpers/servers/asked-server.ts'

const start = () => {
  const logged: string[] = []
  const exchanges = new Exchanges()
  const lifecycle = new Lifecycle(exchanges)
  const open = (name: string) => lifecycle.open((reason) => logged.push(`${name}: ${reason}`))
  return { lifecycle, exchanges, open, logged: () => logged.splice(0) }
}

test('one failure is logged once, and again after it was mended', () => {
  const { lifecycle, open, logged } = start()
  open('a')
  lifecycle.logFailure('broken')
  lifecycle.logFailure('broken')
  assert.deepEqual(logged(), ['a: broken'])
  lifecycle.logSuccess()
  lifecycle.logFailure('broken')
  assert.deepEqual(logged(), ['a: broken'])
})

test('another failure is logged', () => {
  const { lifecycle, open, logged } = start()
  open('a')
  lifecycle.logFailure('broken')
  lifecycle.logFailure('torn')
  assert.deepEqual(logged(), ['a: broken', 'a: torn'])
})

test('each service is logged, and one that comes later too', () => {
  const { lifecycle, open, logged } = start()
  lifecycle.logFailure('broken')
  open('a')
  open('b')
  lifecycle.logFailure('broken')
  assert.deepEqual(logged(), ['a: broken', 'b: broken'])
  open('c')
  lifecycle.logFailure('broken')
  assert.deepEqual(logged(), ['a: broken', 'b: broken', 'c: broken'])
})

test('after the last service has ended, none is logged, and exchanges are ended', async (t) => {
  const server = await askedServer(() => {})
  // So that no exchange ends by itself.
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { lifecycle, exchanges, open, logged } = start()
  open('a')
  open('b')
  const exchange = exchanges.fetch(server.url, { method: 'GET', headers: {} })
  let isOver = false
  const over = assert.rejects(exchange).then(() => {
    isOver = true
  })
  lifecycle.close()
  await new Promise(setImmediate)
  assert.equal(isOver, false)
  lifecycle.close()
  await over
  lifecycle.logFailure('broken')
  assert.deepEqual(logged(), [])
  open('c')
  lifecycle.logFailure('broken')
  assert.deepEqual(logged(), ['c: broken'])
})

test('work that has to be ready says so; other work always is', () => {
  assert.equal(start().lifecycle.isReady, true)
  for (const isReady of [true, false]) {
    assert.equal(new Lifecycle({ isReady, end() {} }).isReady, isReady)
  }
})

test('work begins with the first service, and ends with the last one', () => {
  const calls: string[] = []
  const lifecycle = new Lifecycle({
    begin: () => calls.push('begin'),
    end: () => calls.push('end'),
  })
  for (const again of [1, 2]) {
    lifecycle.open(() => {})
    lifecycle.open(() => {})
    lifecycle.close()
    assert.equal(calls.length, again * 2 - 1)
    lifecycle.close()
  }
  assert.deepEqual(calls, ['begin', 'end', 'begin', 'end'])
})

test('the greatest tolerance of the services counts, until the last one ends', () => {
  const { lifecycle, open } = start()
  assert.equal(lifecycle.clockTolerance, 0)
  open('a')
  assert.equal(lifecycle.clockTolerance, 0)
  for (const [clockTolerance, greatest] of [
    [5, 5],
    [7, 7],
    [3, 7],
  ] as const) {
    lifecycle.open(() => {}, { issuers: [], clockTolerance })
    assert.equal(lifecycle.clockTolerance, greatest)
  }
  for (const left of [7, 7, 7, 0]) {
    lifecycle.close()
    assert.equal(lifecycle.clockTolerance, left)
  }
})

test('the state is that of the work, where it has one', () => {
  const state = { state: 'fresh', age: 1, failure: null } as const
  assert.equal(new Lifecycle({ state: () => state, end() {} }).state(), state)
  assert.equal(start().lifecycle.state(), undefined)
})

const ISSUERS: [what: string, services: AcceptedIssuers[], several: boolean][] = [
  ['none', [], false],
  ['one that says nothing of them', [[]], false],
  ['one', [['a']], false],
  ['the same twice', [['a'], ['a']], false],
  ['two', [['a', 'b']], true],
  ['one each', [['a'], ['b']], true],
  ['one that is not configured', [[undefined]], false],
  ['one that is not configured beside one that is', [[undefined], ['a']], true],
  ['those that a function knows', ['dynamic'], true],
]

for (const [what, services, several] of ISSUERS) {
  test(`services with ${what} ${several ? 'have' : 'do not have'} several issuers`, () => {
    const { lifecycle } = start()
    for (const issuers of services) lifecycle.open(() => {}, { issuers, clockTolerance: 0 })
    assert.equal(lifecycle.hasSeveralIssuers, several)
    for (const _ of services) lifecycle.close()
    assert.equal(lifecycle.hasSeveralIssuers, false)
  })
}

const lifecycle = new Lifecycle({ end() {} })
const withLifecycle = Object.assign(() => {}, { [LIFECYCLE]: lifecycle })

test('the lifecycle of a function is its own', () => {
  assert.equal(lifecycleOf(withLifecycle), lifecycle)
})

const NONE: [what: string, value: unknown][] = [
  ['a function of the application', () => {}],
  ['a function that inherits from one', Object.setPrototypeOf(() => {}, withLifecycle)],
  ['an object that is no function', { [LIFECYCLE]: lifecycle }],
  ['null', null],
  ['nothing', undefined],
]

for (const [what, value] of NONE) {
  test(`${what} has no lifecycle`, () => assert.equal(lifecycleOf(value), undefined))
}
