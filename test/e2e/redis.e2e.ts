import assert from 'node:assert/strict'
import { it } from 'node:test'
import { redisDenyList } from '../../lib/entrypoints/revocation/index.ts'
import { describeStreamsIn } from '../helpers/processes/redis-suite.ts'
import { until } from '../helpers/processes/until.ts'
import { CLIENTS } from '../helpers/servers/redis-clients.ts'
import { RedisServer, withoutRedis } from '../helpers/servers/redis-server.ts'
import { attend, HOUR, tokenOf, verdictOf } from '../helpers/tokens/denied.ts'

const END = new Date(Date.now() + HOUR)

if (withoutRedis) it('a deny list in a real server', { skip: withoutRedis })
else {
  describeStreamsIn('a real server', () => RedisServer.open())

  for (const [name, connect] of CLIENTS) {
    it(`nothing is missed by ${name} when a server that writes to disk is killed`, async (t) => {
      const server = await RedisServer.open(true)
      t.after(() => server.close())
      const clients = await Promise.all([connect(server.url), connect(server.url)])
      t.after(() => clients.map((client) => client.close()))
      const [mine, other, late] = [...clients, ...clients].map(({ client }) =>
        redisDenyList({ client, interval: 0.1 }),
      )
      assert.ok(mine && other && late, 'there are three lists')
      const { logged } = attend(t, other)
      await mine.add({ jti: 'token-1', until: END })
      await other.ready()
      await server.kill()
      // Where the server may have gone before it answered, the entry is added again.
      const add = (): Promise<void> => mine.add({ jti: 'token-2', until: END }).catch(add)
      const added = add()
      await server.start()
      await added
      await until(() => verdictOf(other, tokenOf({ jti: 'token-2' })) === true)
      await late.ready()
      assert.equal(verdictOf(late), true)
      const found = logged.filter((reason) => reason.includes('lost'))
      assert.deepEqual(found, [])
    })

    it(`a pause of all clients is no end, by ${name}`, async (t) => {
      const server = await RedisServer.open()
      t.after(() => server.close())
      const { client, send, close } = await connect(server.url)
      t.after(close)
      const list = redisDenyList({ client, interval: 0.1, maxStale: 0.5 })
      attend(t, list)
      await list.ready()
      await send('CLIENT', 'PAUSE', '1500', 'ALL')
      await until(() => verdictOf(list) === 'ERR_DENY_LIST_STALE')
      await until(() => verdictOf(list) === false)
      await list.add({ jti: 'token-1', until: END })
      assert.equal(verdictOf(list), true)
    })
  }

  it('on a replica, and without the right, the failure is logged by its code', async (t) => {
    const server = await RedisServer.open(false, ['--replicaof', '127.0.0.1', '1'])
    t.after(() => server.close())
    for (const [name, connect] of CLIENTS) {
      const { client, send, close } = await connect(server.url)
      t.after(close)
      const refused = redisDenyList({ client }).add({ jti: 'token-1', until: END })
      await assert.rejects(refused, { reason: 'append failed (READONLY)' }, name)
      await send('ACL', 'SETUSER', 'default', '-xrange')
      const list = redisDenyList({ client })
      await assert.rejects(list.ready(), { reason: 'changes failed (NOPERM)' }, name)
      await send('ACL', 'SETUSER', 'default', '+xrange')
      await list.ready()
    }
  })
}
