import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { Cluster } from 'ioredis'
import { Cluster as ValkeyCluster } from 'iovalkey'
import { createCluster } from 'redis'
import { redisProofs } from '../../lib/entrypoints/revocation/index.ts'
import { runChild } from '../helpers/processes/child.ts'
import { CLIENTS, type OpenClient } from '../helpers/servers/redis-clients.ts'
import { RedisServer, withoutRedis } from '../helpers/servers/redis-server.ts'

const MINUTE = 60_000
const END = new Date(Date.now() + 5 * MINUTE)

if (withoutRedis) it('proofs in a real server', { skip: withoutRedis })
else {
  for (const [name, connect] of CLIENTS) {
    describe(`proofs in a real server, by ${name}`, () => {
      let server: RedisServer
      let clients: OpenClient[]
      before(async () => {
        server = await RedisServer.open()
        clients = await Promise.all([connect(server.url), connect(server.url)])
      })
      after(async () => {
        for (const client of clients) client.close()
        await server.close()
      })
      const at = (index: number) => clients[index] ?? assert.fail('no client')
      const make = (index: number) => redisProofs({ client: at(index).client })

      it('a proof is new once, whoever asks', async () => {
        const [mine, other] = [make(0), make(1)]
        assert.equal(await mine('key.1', END), true)
        assert.equal(await mine('key.1', END), false)
        assert.equal(await other('key.1', END), false)
        assert.equal(await other('key.1', new Date(END.getTime() + MINUTE)), false)
        assert.equal(await other('key.2', END), true)
        assert.equal(await mine('key.2', END), false)
      })

      it('a proof that one process has seen is refused in another', async () => {
        const askAnother = () =>
          runChild('noted-proof', [name, server.url, 'key.3', END.toISOString()])
        assert.deepEqual(await askAnother(), { isFirst: true })
        assert.deepEqual(await askAnother(), { isFirst: false })
        assert.equal(await make(0)('key.3', END), false)
      })

      it('of a hundred that ask at once for one proof, one is the first', async () => {
        const both = [make(0), make(1)]
        const asked = Array.from({ length: 50 }, () => both.map((isFirst) => isFirst('key.4', END)))
        const answers = await Promise.all(asked.flat())
        assert.equal(answers.filter((isFirst) => isFirst).length, 1)
      })

      it('a proof is held until a minute after its end', async () => {
        await make(0)('key.5', END)
        await make(0)('key.6', new Date(0))
        const lives = await Promise.all(
          ['key.5', 'key.6'].map((key) => at(1).send('PTTL', `tenant-auth:proofs:${key}`)),
        )
        const left = END.getTime() - Date.now()
        const [long = 0, short = 0] = lives.map(Number)
        assert.ok(long > left + MINUTE - 5000 && long <= left + MINUTE + 5000, `${long}`)
        assert.ok(short > MINUTE - 5000 && short <= MINUTE, `${short}`)
      })

      it('a key that holds something else counts as seen', async () => {
        await at(1).send('RPUSH', 'tenant-auth:proofs:key.7', 'a')
        assert.equal(await make(0)('key.7', END), false)
      })

      it('without the right, the promise rejects with the code alone', async () => {
        await at(1).send('ACL', 'SETUSER', 'default', '-set')
        try {
          await assert.rejects(make(0)('key.8', END), {
            code: 'NOPERM',
            message: 'the server refused a command',
          })
        } finally {
          await at(1).send('ACL', 'SETUSER', 'default', '+set')
        }
        assert.equal(await make(0)('key.8', END), true)
      })

      it('there is no answer while the server hangs, and the right one after', async () => {
        const isFirst = make(0)
        server.freeze()
        let answer: unknown = 'none'
        const asked = isFirst('key.9', END).then((first) => {
          answer = first
        })
        try {
          await setTimeout(500)
          assert.equal(answer, 'none')
        } finally {
          server.thaw()
        }
        await asked
        assert.equal(answer, true)
        assert.equal(await make(1)('key.9', END), false)
      })

      it('while the server is away nothing is new, and it is asked again when it is back', async () => {
        const isFirst = make(0)
        await server.kill()
        const asked = isFirst('key.10', END).then(
          (first) => first,
          () => 'rejected',
        )
        assert.notEqual(await Promise.race([asked, setTimeout(300, 'late')]), true)
        await server.start()
        // A command of before may be carried out, or have been given up.
        const before = await asked
        const ask = (): Promise<boolean> => isFirst('key.10', END).catch(ask)
        assert.equal(await ask(), before !== true)
        assert.equal(await ask(), false)
      })
    })
  }

  it('clients of a cluster note proofs in its real server, each for all', async (t) => {
    const server = await RedisServer.open(false, [
      ...['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1'],
    ])
    t.after(() => server.close())
    const [, ofIoredis = assert.fail('no client')] = CLIENTS[0] ?? []
    const single = await ofIoredis(server.url)
    t.after(single.close)
    await single.send('CLUSTER', 'ADDSLOTSRANGE', '0', '16383')
    const state = async () => String(await single.send('CLUSTER', 'INFO'))
    while (!(await state()).includes('cluster_state:ok')) await setTimeout(20)
    const node = { host: '127.0.0.1', port: server.port }
    const ioredis = new Cluster([node])
    const iovalkey = new ValkeyCluster([node])
    const redis = createCluster({ rootNodes: [{ url: server.url }] })
    t.after(() => {
      for (const client of [ioredis, iovalkey]) client.disconnect()
      redis.destroy()
    })
    await redis.connect()
    const all = [ioredis, iovalkey, redis].map((client) => redisProofs({ client }))
    for (const [i, isFirst] of all.entries()) {
      for (let key = 0; key < 20; key++) assert.equal(await isFirst(`${i}.${key}`, END), true)
      for (const other of all) assert.equal(await other(`${i}.0`, END), false)
    }
  })
}
