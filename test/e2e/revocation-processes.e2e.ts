import assert from 'node:assert/strict'
import { after, before, describe, it, type TestContext } from 'node:test'
import pg from 'pg'
import { type DenyListRules, postgresDenyList } from '../../lib/entrypoints/revocation/index.ts'
import { answers, type Store, startProcesses } from '../helpers/processes/guarded-processes.ts'
import { allRefuse, newUser, revokedWithin } from '../helpers/processes/revoked-within.ts'
import { missing } from '../helpers/servers/commands.ts'
import {
  ENTRY_STORES,
  type EntryStore,
  type PostgresStore,
} from '../helpers/servers/entry-stores.ts'
import { POOLER, startPooler } from '../helpers/servers/pooler.ts'
import { POSTGRESQL } from '../helpers/servers/postgres-server.ts'
import { attend, tokenOf, verdictOf } from '../helpers/tokens/denied.ts'

/** Seconds. */
const SHORT = { interval: 1 }

/** Processes that end with their test. None of them may have ended before. */
async function processesOf(
  t: TestContext,
  count: number,
  store: Store,
  rules: Partial<DenyListRules>,
) {
  const processes = await startProcesses(count, store, rules)
  t.after(async () => {
    const alive = processes.map(({ isAlive }) => isAlive)
    for (const process of processes) await process.end()
    assert.deepEqual(new Set(alive), new Set([true]), 'no process has crashed')
  })
  return processes
}

for (const [name, { skip, start }] of Object.entries(ENTRY_STORES)) {
  describe(`processes with one deny list in ${name}`, { skip }, () => {
    let store: EntryStore
    before(async () => {
      store = await start()
    })
    after(() => store.close())

    it('an entry of one process counts in all of 2 and 4 within a second', async (t) => {
      const processes = await processesOf(t, 2, store, {})
      await revokedWithin(t, 1, processes)
      await revokedWithin(t, 1, [...processes, ...(await processesOf(t, 2, store, {}))])
    })

    it('an entry counts that another program has added while all connections were lost', async (t) => {
      const processes = await processesOf(t, 2, store, {})
      await store.cutConnections()
      const sub = newUser()
      await store.addSilently(sub)
      await allRefuse(processes, sub)
      await revokedWithin(t, 1, processes)
    })

    it('a killed server leaves all as it is until maxStale, and all is right when it is back', async (t) => {
      const processes = await processesOf(t, 2, store, { interval: 0.5, maxStale: 4 })
      const [first = assert.fail()] = processes
      const [early, late] = [newUser(), newUser()]
      assert.equal(await first.add({ sub: early }), 200)
      await allRefuse(processes, early)
      await store.kill()
      for (const process of processes) {
        assert.equal(await process.statusFor('bob'), 200)
        assert.equal(await process.statusFor(early), 401)
      }
      assert.equal(await first.add({ sub: late }), 503, 'the entry is not kept')
      assert.equal(await first.statusFor(late), 401, 'it counts here all the same')
      for (const process of processes) {
        await answers(process, 'bob', 503)
        assert.equal(await process.statusFor(early), 401)
      }
      await store.start()
      for (const process of processes) await answers(process, 'bob', 200)
      assert.equal(await first.add({ sub: late }), 200)
      await allRefuse(processes, late)
      await allRefuse(processes, early)
      await allRefuse(await processesOf(t, 1, store, SHORT), early)
    })

    it('each entry that was kept counts, though the server was killed meanwhile', async (t) => {
      const processes = await processesOf(t, 2, store, { interval: 0.5 })
      const users = Array.from({ length: 300 }, newUser)
      const added = users.map(async (sub, i) => {
        const status = await processes[i % 2]?.add({ sub })
        if (i === 20) {
          await store.kill()
          await store.start()
        }
        return status
      })
      const statuses = await Promise.all(added)
      const kept = users.filter((_, i) => statuses[i] === 200)
      t.diagnostic(`${kept.length} of ${users.length} were kept`)
      assert.notEqual(kept.length, 0)
      for (const sub of kept) await allRefuse(processes, sub)
      const [another = assert.fail()] = await processesOf(t, 1, store, SHORT)
      for (const sub of kept) assert.equal(await another.statusFor(sub), 401)
    })

    it('after a restore of older data no later entry is missed, and none comes back to life', async (t) => {
      const processes = await processesOf(t, 2, store, { interval: 0.5 })
      await store.backUp()
      const users = Array.from({ length: 30 }, newUser)
      for (const sub of users) await store.addSilently(sub)
      for (const sub of users) await allRefuse(processes, sub)
      await store.restore()
      const sub = newUser()
      await store.addSilently(sub)
      await allRefuse(processes, sub)
      for (const lost of users) await allRefuse(processes, lost)
    })
  })
}

describe('processes with one deny list in PostgreSQL alone', {
  skip: missing(...POSTGRESQL, ...POOLER),
}, () => {
  let store: PostgresStore
  before(async () => {
    store = await ENTRY_STORES.postgresql.start()
  })
  after(() => store.close())

  it('behind a pooler an entry counts within the interval and 1 s', async (t) => {
    const pooler = await startPooler(store)
    t.after(() => pooler.close())
    const behind = { ...store, url: pooler.url }
    const processes = await processesOf(t, 2, behind, SHORT)
    await revokedWithin(t, 2, processes)
    await revokedWithin(t, 2, [...processes, ...(await processesOf(t, 2, behind, SHORT))])
  })

  it('an entry counts whose transaction commits after later ones', async (t) => {
    const processes = await processesOf(t, 4, store, SHORT)
    await revokedWithin(t, 2, processes, async (sub) => {
      const entry = await store.begin(sub)
      const later = newUser()
      assert.equal(await processes[1]?.add({ sub: later }), 200)
      await allRefuse(processes, later)
      for (const process of processes) assert.equal(await process.statusFor(sub), 200)
      await entry.commit()
    })
  })

  it('one connection is enough, also for the application beside the list', async (t) => {
    const pool = new pg.Pool({ connectionString: store.url, max: 1, connectionTimeoutMillis: 2000 })
    pool.on('error', () => {})
    t.after(() => pool.end())
    const list = postgresDenyList({ pool, createTable: true, interval: 0.1 })
    const { logged } = attend(t, list)
    for (let round = 0; round < 20; round++) {
      await Promise.all([pool.query('SELECT 1'), list.add({ jti: `${round}` }), list.ready()])
    }
    assert.deepEqual([list.size() >= 20, logged], [true, []])
    assert.equal(pool.totalCount, 1)
  })

  it('a server that crashed gives numbers again, and hides no entry by them', async (t) => {
    const pool = new pg.Pool({ connectionString: store.url, max: 1, connectionTimeoutMillis: 2000 })
    pool.on('error', () => {})
    t.after(() => pool.end())
    const list = postgresDenyList({ pool, createTable: true })
    await list.add({ sub: newUser(), until: new Date(Date.now() + 3_600_000) })
    const numberOf = async () => {
      const { rows } = await pool.query('SELECT pg_current_xact_id()::text AS xid')
      return BigInt(rows[0].xid)
    }
    let [before, sub] = [0n, '']
    for (let round = 0; ; round++) {
      // Numbers that are written nowhere.
      for (let i = 0; i < 50; i++) await pool.query('SELECT pg_current_xact_id()')
      before = await numberOf()
      await list.ready()
      const { rows } = await pool.query('SELECT pg_backend_pid() AS pid')
      // One of its processes crashes: the server goes on by itself, and began when it began.
      process.kill(rows[0].pid, 'SIGKILL')
      sub = newUser()
      await again(() => store.addSilently(sub))
      if ((await again(numberOf)) < before) break
      // A server that is slow to crash has written them meanwhile.
      assert.ok(round < 9, 'numbers are given again')
    }
    // The server is beyond the numbers of before when it is read again.
    while ((await numberOf()) <= before);
    await again(() => list.ready())
    assert.equal(verdictOf(list, tokenOf({ sub })), true)
  })
})

/** Until it succeeds: a server that crashed is away for a moment. */
async function again<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 0; tries < 500; tries++) {
    try {
      return await work()
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  return work()
}
