import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Exchanges } from '../../../lib/entrypoints/introspection/exchanges.ts'
import {
  type AcceptedIssuers,
  LIFECYCLE,
  lifecycleOf,
  SharedLifecycle,
} from '../../../lib/platform/callbacks/lifecycle.ts'
import { askedServer } from '../../helpers/servers/asked-server.ts'

const start = () => {
  const told: string[] = []
  const exchanges = new Exchanges()
  const attendance = new SharedLifecycle(exchanges)
  const open = (name: string) => attendance.open((reason) => told.push(`${name}: ${reason}`))
  return { attendance, exchanges, open, told: () => told.splice(0) }
}

test('one failure is told once, and again after it was mended', () => {
  const { attendance, open, told } = start()
  open('a')
  attendance.logFailure('broken')
  attendance.logFailure('broken')
  assert.deepEqual(told(), ['a: broken'])
  attendance.logSuccess()
  attendance.logFailure('broken')
  assert.deepEqual(told(), ['a: broken'])
})

test('another failure is told', () => {
  const { attendance, open, told } = start()
  open('a')
  attendance.logFailure('broken')
  attendance.logFailure('torn')
  assert.deepEqual(told(), ['a: broken', 'a: torn'])
})

test('each service is told, and one that comes later too', () => {
  const { attendance, open, told } = start()
  attendance.logFailure('broken')
  open('a')
  open('b')
  attendance.logFailure('broken')
  assert.deepEqual(told(), ['a: broken', 'b: broken'])
  open('c')
  attendance.logFailure('broken')
  assert.deepEqual(told(), ['a: broken', 'b: broken', 'c: broken'])
})

test('after the last service has ended, none is told, and exchanges are ended', async (t) => {
  const server = await askedServer(() => {})
  // So that no exchange ends by itself.
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { attendance, exchanges, open, told } = start()
  open('a')
  open('b')
  const exchange = exchanges.fetch(server.url, { method: 'GET', headers: {} })
  let isOver = false
  const over = assert.rejects(exchange).then(() => {
    isOver = true
  })
  attendance.close()
  await new Promise(setImmediate)
  assert.equal(isOver, false)
  attendance.close()
  await over
  attendance.logFailure('broken')
  assert.deepEqual(told(), [])
  open('c')
  attendance.logFailure('broken')
  assert.deepEqual(told(), ['c: broken'])
})

test('work that has to be ready says so; other work always is', () => {
  assert.equal(start().attendance.isReady, true)
  for (const isReady of [true, false]) {
    assert.equal(new SharedLifecycle({ isReady, end() {} }).isReady, isReady)
  }
})

test('work begins with the first service, and ends with the last one', () => {
  const calls: string[] = []
  const attendance = new SharedLifecycle({
    begin: () => calls.push('begin'),
    end: () => calls.push('end'),
  })
  for (const again of [1, 2]) {
    attendance.open(() => {})
    attendance.open(() => {})
    attendance.close()
    assert.equal(calls.length, again * 2 - 1)
    attendance.close()
  }
  assert.deepEqual(calls, ['begin', 'end', 'begin', 'end'])
})

test('the greatest tolerance of the services counts, until the last one ends', () => {
  const { attendance, open } = start()
  assert.equal(attendance.clockTolerance, 0)
  open('a')
  assert.equal(attendance.clockTolerance, 0)
  for (const [clockTolerance, greatest] of [
    [5, 5],
    [7, 7],
    [3, 7],
  ] as const) {
    attendance.open(() => {}, { issuers: [], clockTolerance })
    assert.equal(attendance.clockTolerance, greatest)
  }
  for (const left of [7, 7, 7, 0]) {
    attendance.close()
    assert.equal(attendance.clockTolerance, left)
  }
})

test('the state is that of the work, where it has one', () => {
  const state = { state: 'fresh', age: 1, failure: null } as const
  assert.equal(new SharedLifecycle({ state: () => state, end() {} }).state(), state)
  assert.equal(start().attendance.state(), undefined)
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
  ['those that a function tells', ['asked'], true],
]

for (const [what, services, several] of ISSUERS) {
  test(`services with ${what} ${several ? 'have' : 'do not have'} several issuers`, () => {
    const { attendance } = start()
    for (const issuers of services) attendance.open(() => {}, { issuers, clockTolerance: 0 })
    assert.equal(attendance.hasSeveralIssuers, several)
    for (const _ of services) attendance.close()
    assert.equal(attendance.hasSeveralIssuers, false)
  })
}

const attendance = new SharedLifecycle({ end() {} })
const attended = Object.assign(() => {}, { [LIFECYCLE]: attendance })

test('the attendant of a function is its own', () => {
  assert.equal(lifecycleOf(attended), attendance)
})

const NONE: [what: string, value: unknown][] = [
  ['a function of the application', () => {}],
  ['a function that inherits from one', Object.setPrototypeOf(() => {}, attended)],
  ['an object that is no function', { [LIFECYCLE]: attendance }],
  ['null', null],
  ['nothing', undefined],
]

for (const [what, value] of NONE) {
  test(`there is no attendant of ${what}`, () => assert.equal(lifecycleOf(value), undefined))
}
