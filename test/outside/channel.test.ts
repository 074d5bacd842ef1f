import assert from 'node:assert/strict'
import { channel, subscribe, unsubscribe } from 'node:diagnostics_channel'
import { test } from 'node:test'
import { Channel } from '../../lib/outside/channel.ts'

test('a channel is the one of node:diagnostics_channel by its name', (t) => {
  const told: unknown[] = []
  const subscriber = (...message: unknown[]) => void told.push(message)
  const ours = new Channel('test:known')
  assert.equal(ours.hasSubscribers, false)
  ours.publish({ to: 'nobody' })
  subscribe('test:known', subscriber)
  t.after(() => unsubscribe('test:known', subscriber))
  assert.equal(ours.hasSubscribers, true)
  ours.publish({ to: 'all' })
  assert.deepEqual(told, [[{ to: 'all' }, 'test:known']])
})

test('where Node keeps its subscribers elsewhere, it tells them itself', (t) => {
  const told: unknown[] = []
  const published = t.mock.method(channel('test:elsewhere'), 'publish', (message: unknown) => {
    told.push(message)
  })
  const ours = new Channel('test:elsewhere')
  for (const elsewhere of [undefined, new Map(), ['no function', () => {}]]) {
    Reflect.set(channel('test:elsewhere'), '_subscribers', elsewhere)
    ours.publish({ elsewhere })
  }
  assert.equal(published.mock.callCount(), 3)
  assert.equal(told.length, 3)
})

test('a subscriber that subscribes another one while it is told does no harm', (t) => {
  const told: string[] = []
  const second = () => void told.push('second')
  const first = () => {
    told.push('first')
    if (told.length === 1) subscribe('test:growing', second)
  }
  subscribe('test:growing', first)
  t.after(() => {
    unsubscribe('test:growing', first)
    unsubscribe('test:growing', second)
  })
  const ours = new Channel('test:growing')
  ours.publish({})
  assert.deepEqual(told, ['first'])
  ours.publish({})
  assert.deepEqual(told, ['first', 'first', 'second'])
})

const FAILING: [how: string, subscriber: () => unknown][] = [
  ['throws', () => JSON.parse('')],
  ['rejects', async () => JSON.parse('')],
]

for (const [how, subscriber] of FAILING) {
  test(`a subscriber that ${how} is told of once, and the others hear all`, async (t) => {
    const name = `test:${how}`
    const warned = t.mock.method(process, 'emitWarning', () => {})
    const told: unknown[] = []
    const other = (message: unknown) => void told.push(message)
    for (const each of [subscriber, other]) {
      subscribe(name, each)
      t.after(() => unsubscribe(name, each))
    }
    const ours = new Channel(name)
    for (const n of [1, 2]) {
      ours.publish({ n })
      await new Promise(setImmediate)
    }
    assert.deepEqual(told, [{ n: 1 }, { n: 2 }])
    assert.deepEqual(
      warned.mock.calls.map((call) => call.arguments),
      [
        [
          `a subscriber of ${name} failed (SyntaxError)`,
          { type: 'TenantAuthWarning', code: 'TENANT_AUTH_SUBSCRIBER_FAILED' },
        ],
      ],
    )
  })
}
