import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { PROPERTY_SEED } from '../helpers/arbitraries/property.ts'
import { type GuardedProcess, startProcesses } from '../helpers/processes/guarded-processes.ts'
import { allRefuse, newUser } from '../helpers/processes/revoked-within.ts'
import { ENTRY_STORES, type EntryStore, type OpenEntry } from '../helpers/servers/entry-stores.ts'

const RUNS = Number(process.env['PROPERTY_RUNS'] ?? 12)

const STEPS = [
  'add',
  'addSilently',
  'begin',
  'commit',
  'restart',
  'cutConnections',
  'look',
] as const

/** What may happen, and which of the processes or open transactions it concerns. */
const anyStep = fc.record({
  // Restarts take longest.
  does: fc.constantFrom(...STEPS, 'add', 'begin', 'commit', 'commit', 'addSilently'),
  which: fc.nat(3),
})

/** A plain list of what has been revoked, beside what is under way. */
class World {
  readonly revoked: string[] = []
  readonly open: { readonly sub: string; readonly entry: OpenEntry }[] = []
  readonly #store: EntryStore
  readonly #processes: readonly GuardedProcess[]

  constructor(store: EntryStore, processes: readonly GuardedProcess[]) {
    this.#store = store
    this.#processes = processes
  }

  async take({ does, which }: { does: (typeof STEPS)[number]; which: number }): Promise<void> {
    if (does === 'add') await this.#add(which)
    if (does === 'begin') await this.#begin()
    if (does === 'commit') await this.#commit(which)
    if (does === 'restart') await this.#restart()
    if (does === 'cutConnections') await this.#store.cutConnections()
    if (does === 'look') await this.look()
    if (does === 'addSilently') {
      const sub = newUser()
      await this.#store.addSilently(sub)
      this.revoked.push(sub)
    }
  }

  /** Nothing is missed, and nobody else is refused. */
  async look(): Promise<void> {
    for (const sub of this.revoked) await allRefuse(this.#processes, sub)
    for (const process of this.#processes) {
      for (const { sub } of this.open) assert.equal(await process.statusFor(sub), 200)
      assert.equal(await process.statusFor('bob'), 200)
      assert.equal(process.isAlive, true)
    }
  }

  /** Again and again, as one has to where the entry was perhaps not kept. */
  async #add(which: number): Promise<void> {
    const process = this.#processes[which % this.#processes.length] ?? assert.fail('no process')
    const sub = newUser()
    for (let attempt = 0; (await process.add({ sub })) !== 200; attempt++) {
      assert.ok(attempt < 100, 'an entry cannot be added')
    }
    this.revoked.push(sub)
  }

  async #begin(): Promise<void> {
    const sub = newUser()
    const entry = await this.#store.begin?.(sub)
    if (entry !== undefined) this.open.push({ sub, entry })
  }

  async #commit(which: number): Promise<void> {
    const [late] = this.open.splice(which % Math.max(1, this.open.length), 1)
    if (late === undefined) return
    await late.entry.commit()
    this.revoked.push(late.sub)
  }

  /** What was under way is lost. */
  async #restart(): Promise<void> {
    this.open.length = 0
    await this.#store.kill()
    await this.#store.start()
  }

  async end(): Promise<void> {
    while (this.open.length > 0) await this.#commit(0)
    await this.look()
  }
}

for (const [name, { skip, start }] of Object.entries(ENTRY_STORES)) {
  describe(`processes with one deny list in ${name}, against a plain list`, { skip }, () => {
    let store: EntryStore
    let processes: GuardedProcess[]
    before(async () => {
      store = await start()
      processes = await startProcesses(2, store, { interval: 0.3 })
    })
    after(async () => {
      for (const process of processes) await process.end()
      await store.close()
    })

    it('nothing is missed, in any order of entries, commits, kills and lost connections', async (t) => {
      t.diagnostic(`${RUNS} runs, PROPERTY_SEED=${PROPERTY_SEED}`)
      const property = fc.asyncProperty(
        fc.array(anyStep, { minLength: 1, maxLength: 30, size: 'max' }),
        async (steps) => {
          const world = new World(store, processes)
          for (const step of steps) await world.take(step)
          await world.end()
        },
      )
      await fc.assert(property, { seed: PROPERTY_SEED, numRuns: RUNS, endOnFailure: true })
    })
  })
}
