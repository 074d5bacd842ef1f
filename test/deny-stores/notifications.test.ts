import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { type TestContext, test } from 'node:test'
import { Notifications } from '../../lib/deny-stores/notifications.ts'
import { SECOND, settled, stopClocks } from '../helpers/tokens/denied.ts'

/** A connection whose end the test sees. */
class Client extends EventEmitter {
  readonly asked: string[] = []
  readonly released: unknown[] = []
  answer: () => Promise<unknown> = async () => {}

  query(text: string): Promise<unknown> {
    this.asked.push(text)
    return this.answer()
  }

  release(destroy?: boolean): void {
    this.released.push(destroy)
  }
}

function start(t: TestContext) {
  const clocks = stopClocks(t)
  const clients: Client[] = []
  const door: { connect: () => Promise<Client> } = {
    connect: async () => {
      const client = new Client()
      clients.push(client)
      return client
    },
  }
  const pool = { query: async () => ({ rows: [] }), connect: () => door.connect() }
  const notifications = new Notifications(pool, 'LISTEN "a"')
  t.after(() => notifications.close())
  const wake = t.mock.fn()
  return { ...clocks, clients, door, notifications, wake, woken: () => wake.mock.callCount() }
}

test('it wakes when it listens, and at each message', async (t) => {
  const { clients, notifications, wake, woken } = start(t)
  notifications.open(wake)
  await settled()
  assert.deepEqual(clients[0]?.asked, ['LISTEN "a"'])
  assert.equal(woken(), 1)
  clients[0].emit('notification')
  assert.equal(woken(), 2)
  notifications.close()
  clients[0].emit('notification')
  clients[0].emit('end')
  assert.equal(woken(), 2)
  assert.deepEqual(clients[0].released, [true])
})

for (const event of ['error', 'end']) {
  test(`after an ${event} of its connection it takes another one, and wakes`, async (t) => {
    const { clients, notifications, pass, wake, woken } = start(t)
    notifications.open(wake)
    await settled()
    clients[0]?.emit(event, new Error('on purpose'))
    clients[0]?.emit(event, new Error('on purpose'))
    assert.deepEqual(clients[0]?.released, [true])
    await pass(SECOND)
    assert.equal(clients.length, 2)
    assert.equal(woken(), 2)
    clients[0].emit('notification')
    assert.equal(woken(), 2)
  })
}

test('where it cannot connect or listen, it tries again, and less often', async (t) => {
  const { clients, door, notifications, pass, wake, woken } = start(t)
  const { connect } = door
  let tries = 0
  door.connect = async () => {
    tries += 1
    if (tries < 10) throw new Error('on purpose')
    const client = await connect()
    if (tries === 10) client.answer = () => Promise.reject(new Error('on purpose'))
    return client
  }
  notifications.open(wake)
  await pass(60 * SECOND)
  assert.ok(tries > 4 && tries < 9, `${tries} tries in a minute`)
  await pass(240 * SECOND)
  assert.deepEqual(clients[0]?.released, [true])
  assert.deepEqual(clients[1]?.released, [])
  assert.equal(woken(), 1)
})

test('a connection that comes after the end is given back', async (t) => {
  const { clients, notifications, pass, wake, woken } = start(t)
  notifications.open(wake)
  notifications.close()
  await settled()
  assert.deepEqual(clients[0]?.asked, [])
  assert.deepEqual(clients[0]?.released, [undefined])
  await pass(60 * SECOND)
  assert.equal(clients.length, 1)
  assert.equal(woken(), 0)
})

test('an end while it begins to listen is no failure', async (t) => {
  const { clients, door, notifications, pass, wake } = start(t)
  const { connect } = door
  door.connect = async () => {
    const client = await connect()
    client.answer = async () => {
      notifications.close()
      throw new Error('on purpose')
    }
    return client
  }
  notifications.open(wake)
  await pass(60 * SECOND)
  assert.equal(clients.length, 1)
  assert.deepEqual(clients[0]?.released, [true])
})

test('a connection that lives is asked once a minute, and kept', async (t) => {
  const { clients, notifications, pass, wake, woken } = start(t)
  notifications.open(wake)
  await settled()
  await pass(601 * SECOND)
  assert.equal(clients.length, 1)
  assert.equal(clients[0]?.asked.length, 11)
  assert.equal(woken(), 1)
  notifications.close()
  await pass(120 * SECOND)
  assert.equal(clients[0].asked.length, 11, 'it ends with the list')
})

const SILENCES: [when: string, answer: () => Promise<unknown>][] = [
  ['is gone without a word', () => new Promise(() => {})],
  ['refuses to go on', () => Promise.reject(new Error('on purpose'))],
]

for (const [when, answer] of SILENCES) {
  test(`a connection that ${when} is closed, and another one wakes`, async (t) => {
    const { clients, notifications, pass, wake, woken } = start(t)
    notifications.open(wake)
    await settled()
    if (clients[0] !== undefined) clients[0].answer = answer
    await pass(67 * SECOND)
    assert.deepEqual(clients[0]?.released, [true])
    assert.equal(clients.length, 2)
    assert.equal(woken(), 2)
  })
}

test('a connection on which it never comes to listen is given up', async (t) => {
  const { clients, door, notifications, pass, wake, woken } = start(t)
  const { connect } = door
  door.connect = async () => {
    const client = await connect()
    if (clients.length === 1) client.answer = () => new Promise(() => {})
    return client
  }
  notifications.open(wake)
  await pass(7 * SECOND)
  assert.deepEqual(clients[0]?.released, [true])
  assert.equal(woken(), 1)
})

test('an answer after the end begins nothing', async (t) => {
  const { clients, door, notifications, pass, wake } = start(t)
  const { connect } = door
  door.connect = async () => {
    const client = await connect()
    client.answer = () => new Promise((resolve) => setTimeout(resolve, SECOND))
    return client
  }
  notifications.open(wake)
  await settled()
  notifications.close()
  await pass(120 * SECOND)
  assert.deepEqual(
    clients.map(({ asked }) => asked.length),
    [1],
  )
})
