import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { answers, startProcesses } from '../helpers/processes/guarded-processes.ts'
import { allRefuse, newUser } from '../helpers/processes/revoked-within.ts'
import { ENTRY_STORES } from '../helpers/servers/entry-stores.ts'
import { startStandIn } from '../helpers/servers/stand-in.ts'

const REQUESTS = 1000
const AT_ONCE = 50

describe('a server that accepts connections and never answers', { concurrency: true }, () => {
  for (const [name, { skip, start }] of Object.entries(ENTRY_STORES)) {
    it(`of ${name}: a thousand requests are answered as before, then 503, then right again`, {
      skip,
    }, async (t) => {
      const store = await start()
      t.after(() => store.close())
      const way = await startStandIn(store.port)
      t.after(() => way.close())
      const url = new URL(store.url)
      url.port = `${way.port}`
      const behind = { ...store, url: url.href }
      const [process = assert.fail()] = await startProcesses(1, behind, {
        interval: 1,
        maxStale: 12,
      })
      t.after(() => process.end())
      const revoked = newUser()
      assert.equal(await process.add({ sub: revoked }), 200)

      way.fallSilent()
      const statuses: number[] = []
      const begin = performance.now()
      while (statuses.length < REQUESTS) {
        const asked = Array.from({ length: AT_ONCE }, (_, i) =>
          process.statusFor(i % 2 === 0 ? 'bob' : revoked),
        )
        statuses.push(...(await Promise.all(asked)))
      }
      t.diagnostic(`${REQUESTS} requests in ${Math.round(performance.now() - begin)} ms`)
      const counts = [200, 401].map((status) => statuses.filter((one) => one === status).length)
      assert.deepEqual(counts, [REQUESTS / 2, REQUESTS / 2])

      await answers(process, 'bob', 503)
      assert.equal(await process.statusFor(revoked), 401)
      const late = newUser()
      await store.addSilently(late)
      way.heal()
      const healed = performance.now()
      await answers(process, 'bob', 200)
      t.diagnostic(`right again after ${Math.round(performance.now() - healed)} ms`)
      await allRefuse([process], late)
      assert.equal(await process.statusFor(revoked), 401)
      assert.equal(process.isAlive, true)
    })
  }
})
