import type { Applications } from './applications.ts'
import type { Cast } from './cast.ts'
import { DataChanges } from './data-changes.ts'
import type { EntryStore } from './entry-store.ts'
import { type Issuer, KEY_FAULTS } from './issuer.ts'
import type { Random } from './random.ts'
import { randomEntry } from './random-entry.ts'
import { Repeated } from './repeated.ts'
import type { World } from './world.ts'

/** What is disturbed. */
export interface Disturbed {
  readonly seed: number
  /** 1: as in the long run; less: as much in a shorter time. */
  readonly pace: number
  readonly world: World
  readonly issuers: readonly Issuer[]
  readonly applications: Applications
  readonly cast: Cast
  readonly store: EntryStore
}

/** Everything that happens beside the requests, until it is ended. */
export class Disturbances {
  readonly #the: Disturbed
  readonly #repeated: Repeated
  readonly #data: DataChanges

  constructor(disturbed: Disturbed) {
    const { seed, pace, world, applications, cast } = disturbed
    this.#the = disturbed
    this.#repeated = new Repeated(seed, pace)
    this.#data = new DataChanges(seed, world, applications, cast)
  }

  get counts(): ReadonlyMap<string, number> {
    return this.#repeated.counts
  }

  begin(): void {
    const repeated = this.#repeated
    for (const issuer of this.#the.issuers) {
      const { name } = issuer
      repeated.begin(`rotate ${name}`, [4, 14], (random) => this.#rotate(issuer, random))
      repeated.begin(`fail ${name}`, [10, 40], (random) => this.#failKeys(issuer, random))
    }
    repeated.begin('clock', [6, 20], (random) => this.#moveClock(random))
    repeated.begin('store', [15, 60], (random) => this.#disturbStore(random))
    repeated.begin('deny', [0.3, 1.5], (random) => this.#deny(random))
    this.#data.begin(repeated)
  }

  /** Resolves when everything is as it was before. */
  end(): Promise<void> {
    return this.#repeated.end()
  }

  /** A user comes, and another one may go. */
  recast(): Promise<void> {
    return this.#data.recast()
  }

  /** The new key is published after it signs, at once beside the one before, or alone. */
  async #rotate(issuer: Issuer, random: Random): Promise<void> {
    issuer.renewKey()
    const isHard = random.chance(0.3)
    if (!isHard && random.chance(0.3)) await this.#repeated.rest(1)
    issuer.publish(isHard ? 1 : 2)
    if (isHard || random.chance(0.5)) return
    await this.#repeated.rest(random.between(2, 6))
    issuer.publish(1)
  }

  /** For a while, or for so long that no keys serve any more. */
  async #failKeys(issuer: Issuer, random: Random): Promise<void> {
    const fault = random.pick(KEY_FAULTS)
    await issuer.fail(fault)
    this.#repeated.count(`key server: ${fault}`)
    await this.#repeated.rest(random.chance(0.3) ? random.between(22, 30) : random.between(1, 8))
    await issuer.fail(null)
  }

  async #moveClock(random: Random): Promise<void> {
    const process = this.#anyProcess(random)
    const offset = random.pick([-3600, -40, -8, -3, 3, 8, 40, 3600])
    await this.#the.applications.setClock(process, offset * 1000)
    await this.#repeated.rest(random.between(1, 6))
    await this.#the.applications.setClock(process, 0)
  }

  /** Restarted at once, back soon, or away for so long that the list is too old. */
  async #disturbStore(random: Random): Promise<void> {
    const { store, world } = this.#the
    const way = random.pick(store.ways)
    world.store.begin()
    await store.goAway(way)
    await this.#repeated.rest(random.pick([0, 0, 2, 4, 10, 14]))
    world.store.beginReturn()
    await store.comeBack()
    world.store.end()
    this.#repeated.count(`store: ${way}`)
  }

  async #deny(random: Random): Promise<void> {
    const { applications, cast } = this.#the
    const entry = randomEntry(cast, random)
    // Not waited for: while the store is away, further ones come.
    void applications.deny(this.#anyProcess(random), entry, () => this.#repeated.isOver)
  }

  #anyProcess(random: Random): number {
    return random.below(this.#the.world.processes.length)
  }
}
