import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Exchanges } from '../../../lib/entrypoints/introspection/exchanges.ts'
import { LIFECYCLE, Lifecycle, lifecycleOf } from '../../../lib/platform/callbacks/lifecycle.ts'
import { openLifecycle } from '../../helpers/app/open-lifecycle.ts'
import { askedServer } from '../../helpers/servers/asked-server.ts'

const start = () => {
  const logged: string[] = []
  const exchanges = new Exchanges()
  const lifecycle = new Lifecycle(exchanges)
  const open = (name: string) =>
    openLifecycle(lifecycle, (reason) => logged.push(`${name}: ${reason}`))
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

test('failures that take turns are logged once each, and twenty at most', () => {
  const { lifecycle, open, logged } = start()
  open('a')
  for (let turn = 0; turn < 3; turn++) {
    for (const reason of ['late', 'closed']) lifecycle.logFailure(reason)
  }
  assert.deepEqual(logged(), ['a: late', 'a: closed'])
  for (let i = 0; i < 50; i++) lifecycle.logFailure(`broken ${i}`)
  assert.equal(logged().length, 18)
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
