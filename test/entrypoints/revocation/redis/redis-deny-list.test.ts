import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Cluster, Redis } from 'ioredis'
import { Cluster as ValkeyCluster } from 'iovalkey'
import { createCluster } from 'redis'
import { redisDenyList } from '../../../../lib/entrypoints/revocation/index.ts'
import { configError } from '../../../helpers/app/config-error.ts'
import { describeStreamsIn } from '../../../helpers/processes/redis-suite.ts'
import { until } from '../../../helpers/processes/until.ts'
import { CLIENTS, type OpenClient } from '../../../helpers/servers/redis-clients.ts'
import { type Reply, StreamServer } from '../../../helpers/servers/stream-server.ts'
import { attend, HOUR, verdictOf } from '../../../helpers/tokens/denied.ts'

const END = new Date(Date.now() + HOUR)
const CODES = ['NOAUTH', 'NOPERM', 'READONLY', 'WRONGTYPE', 'OOM', 'MISCONF']

/** Answers that are none of a stream. */
const ODD: [command: string, answer: Reply][] = [
  ['XADD', 'OK'],
  ['XADD', 7],
  ['XRANGE', 'OK'],
  ['XRANGE', [['OK', []]]],
  ['XRANGE', [['1-1', 'OK']]],
  ['XRANGE', ['1-1']],
]

// A real server, and all clients: test/e2e/redis.e2e.ts.
describeStreamsIn('a server of streams', () => StreamServer.open(), CLIENTS.slice(0, 1))

for (const [name, connect] of CLIENTS) {
  it(`a command that a server refuses is logged by its code alone (${name})`, async (t) => {
    const server = await StreamServer.open()
    t.after(() => server.close())
    const { client, close } = await connect(server.url)
    t.after(close)
    for (const code of CODES) {
      server.override = (command) =>
        command.startsWith('X') ? new Error(`${code} hunter2`) : undefined
      const list = redisDenyList({ client })
      const { logged } = attend(t, list)
      await assert.rejects(list.ready(), { reason: `changes failed (${code})` })
      assert.deepEqual(logged, [`the deny list cannot be read (${code})`])
      const adding = list.add({ jti: 'token-1', until: END })
      await assert.rejects(adding, { reason: `append failed (${code})` })
      assert.equal(verdictOf(list), true, 'it counts here')
    }
  })

  it(`a list makes no connection, and needs three commands alone (${name})`, async (t) => {
    const server = await StreamServer.open()
    t.after(() => server.close())
    const { client, close } = await connect(server.url)
    t.after(close)
    const list = redisDenyList({ client, interval: 0.1 })
    attend(t, list)
    await list.add({ jti: 'token-1', until: END })
    await until(() => server.asked.length > 5)
    assert.equal(server.connections, 1)
    const commands = server.asked.map(([command]) => command?.toUpperCase())
    assert.deepEqual(new Set(commands), new Set(['XADD', 'XRANGE']))
  })

  for (const [command, odd] of ODD) {
    it(`an odd answer to ${command} is a failure (${name}, ${JSON.stringify(odd)})`, async (t) => {
      const server = await StreamServer.open()
      t.after(() => server.close())
      const { client, close } = await connect(server.url)
      t.after(close)
      server.override = (asked) => (asked === command ? odd : undefined)
      const list = redisDenyList({ client })
      const work = command === 'XADD' ? list.add({ jti: 'token-1', until: END }) : list.ready()
      await assert.rejects(work, { code: 'ERR_AUTH_REVOCATION_UNAVAILABLE' })
    })
  }
}

it('a keyPrefix comes before the key', async (t) => {
  const server = await StreamServer.open()
  t.after(() => server.close())
  const client = new Redis(server.url, { keyPrefix: 'app:' })
  t.after(() => client.disconnect())
  const list = redisDenyList({ client, key: 'revoked' })
  attend(t, list)
  await list.add({ jti: 'token-1', until: END })
  await list.ready()
  const prefixed = server.asked.filter((request) => request.includes('app:revoked'))
  assert.deepEqual(prefixed, server.asked)
})

const CLUSTERS: [name: string, connect: (port: number) => OpenCluster | Promise<OpenCluster>][] = [
  ['ioredis', (port) => clusterOf(new Cluster([{ host: '127.0.0.1', port }]))],
  ['iovalkey', (port) => clusterOf(new ValkeyCluster([{ host: '127.0.0.1', port }]))],
  [
    'redis',
    async (port) => {
      const client = createCluster({ rootNodes: [{ url: `redis://127.0.0.1:${port}` }] })
      await client.connect()
      return { client, close: () => client.destroy() }
    },
  ],
]

type OpenCluster = Omit<OpenClient, 'send'>

const clusterOf = (client: Cluster | ValkeyCluster): OpenCluster => ({
  client,
  close: () => client.disconnect(),
})

for (const [name, connect] of CLUSTERS) {
  it(`a client of a cluster does the same (${name})`, async (t) => {
    const server = await StreamServer.open()
    t.after(() => server.close())
    const { client, close } = await connect(server.port)
    t.after(close)
    const [mine, other] = [redisDenyList({ client }), redisDenyList({ client })]
    const { logged } = attend(t, other)
    await other.ready()
    await mine.add({ jti: 'token-1', until: END })
    await until(() => verdictOf(other) === true, 5000)
    assert.deepEqual(logged, [])
  })
}

const client = new Redis({ lazyConnect: true })

const BAD: [what: string, options: unknown, message: RegExp][] = [
  ['nothing', undefined, /^options: expected an object, found undefined/],
  ['no client', {}, /^client: expected a client/],
  ['null', { client: null }, /^client: expected a client/],
  ['a client that is none', { client: { xadd: () => {} } }, /^client: expected a client/],
  ['an address', { client: 'redis://localhost' }, /^client: expected a client/],
  ['an empty key', { client, key: '' }, /^key: expected a text of 1 to 512 characters/],
  ['an undefined key', { client, key: undefined }, /^key: expected/],
  ['a long key', { client, key: 'a'.repeat(513) }, /^key: expected/],
  ['a rule of denyList', { client, interval: 0 }, /^interval: expected seconds/],
  ['a pool', { client, pool: {} }, /^pool: expected one of client, key/],
]

for (const [what, options, message] of BAD) {
  it(`redisDenyList refuses ${what}`, () => {
    const shown = () => Reflect.apply(redisDenyList, undefined, [options])
    assert.throws(shown, configError(message, '(redisDenyList())'))
  })
}
