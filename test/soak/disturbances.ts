import { setMaxListeners } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import type { Applications } from './applications.ts'
import { type Cast, TENANTS, type User } from './cast.ts'
import type { EntryStore } from './entry-store.ts'
import { type Issuer, KEY_FAULTS } from './issuer.ts'
import type { Table } from './orders.ts'
import { Random } from './random.ts'
import type { Entry } from './revocations.ts'
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
  readonly counts = new Map<string, number>()
  readonly #the: Disturbed
  readonly #end = new AbortController()
  readonly #running: Promise<void>[] = []

  constructor(disturbed: Disturbed) {
    this.#the = disturbed
    // All that waits is ended by one signal.
    setMaxListeners(100, this.#end.signal)
  }

  get isOver(): boolean {
    return this.#end.signal.aborted
  }

  begin(): void {
    for (const issuer of this.#the.issuers) {
      this.#repeat(`rotate ${issuer.name}`, [4, 14], (random) => this.#rotate(issuer, random))
      this.#repeat(`fail ${issuer.name}`, [10, 40], (random) => this.#failKeys(issuer, random))
    }
    this.#repeat('clock', [6, 20], (random) => this.#moveClock(random))
    this.#repeat('store', [15, 60], (random) => this.#disturbStore(random))
    this.#repeat('deny', [0.3, 1.5], (random) => this.#deny(random))
    this.#repeat('tenant', [1, 5], (random) => this.#changeTenant(random))
    this.#repeat('rights', [0.5, 2], (random) => this.#changeRights(random))
    this.#repeat('opaque', [0.5, 2], (random) => this.#changeOpaque(random))
    this.#repeat('functions', [6, 20], (random) => this.#failFunction(random))
    this.#repeat('cast', [1, 3], () => this.recast())
  }

  /** Resolves when everything is as it was before. */
  async end(): Promise<void> {
    this.#end.abort()
    await Promise.all(this.#running)
  }

  /** A user comes, and another one may go. */
  async recast(): Promise<void> {
    const { come, gone } = this.#the.cast.next()
    await this.#tellOf(come, true)
    if (gone !== undefined) await this.#tellOf(gone, false)
  }

  /** Again and again, after some seconds each, by a sequence of its own. */
  #repeat(
    name: string,
    [least, most]: readonly [number, number],
    act: (random: Random) => Promise<unknown>,
  ): void {
    const random = Random.of(this.#the.seed, name)
    const run = async () => {
      for (;;) {
        await this.#rest(random.between(least, most))
        if (this.isOver) return
        await act(random)
        this.#count(name)
      }
    }
    this.#running.push(run())
  }

  #count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1)
  }

  async #rest(seconds: number): Promise<void> {
    await wait(seconds * 1000 * this.#the.pace, undefined, this.#end).catch(() => {})
  }

  /** The new key is published before it signs, at once, or alone. */
  async #rotate(issuer: Issuer, random: Random): Promise<void> {
    issuer.renewKey()
    const isHard = random.chance(0.3)
    if (!isHard && random.chance(0.3)) await this.#rest(1)
    issuer.publish(isHard ? 1 : 2)
    if (isHard || random.chance(0.5)) return
    await this.#rest(random.between(2, 6))
    issuer.publish(1)
  }

  async #failKeys(issuer: Issuer, random: Random): Promise<void> {
    const fault = random.pick(KEY_FAULTS)
    await issuer.fail(fault)
    this.#count(`key server: ${fault}`)
    await this.#rest(random.chance(0.3) ? random.between(22, 30) : random.between(1, 8))
    await issuer.fail(null)
  }

  async #moveClock(random: Random): Promise<void> {
    const process = this.#anyProcess(random)
    const offset = random.pick([-3600, -40, -8, -3, 3, 8, 40, 3600])
    await this.#the.applications.setClock(process, offset * 1000)
    await this.#rest(random.between(1, 6))
    await this.#the.applications.setClock(process, 0)
  }

  async #disturbStore(random: Random): Promise<void> {
    const { store, world } = this.#the
    const way = random.pick(store.ways)
    world.store.begin()
    await store.goAway(way)
    await this.#rest(random.pick([0, 0, 2, 4, 10, 14]))
    await store.comeBack()
    world.store.end()
    this.#count(`store: ${way}`)
  }

  async #deny(random: Random): Promise<void> {
    const { applications } = this.#the
    const entry = this.#entry(random)
    // Not waited for: while the store is away, further ones come.
    void applications.deny(this.#anyProcess(random), entry, () => this.isOver)
  }

  #entry(random: Random): Entry {
    const user = this.#the.cast.pick(random)
    const { jti, sid, sub, iss } = this.#the.cast.tokenOf(user, random).claims
    const now = Date.now()
    if (random.chance(0.02)) return { issuer: iss, issuedBefore: now - 20_000 }
    // A user who is out for good is asked of until another one comes.
    if (random.chance(0.05)) return { sub, issuer: iss }
    return random.pick<Entry>([
      { jti },
      { jti },
      { jti: `of-no-token-${random.next()}` },
      { jti: `of-no-token-${random.next()}` },
      { sid, issuer: iss },
      { sub, issuer: iss, issuedBefore: now },
    ])
  }

  async #changeTenant(random: Random): Promise<void> {
    const tenant = random.pick(TENANTS)
    await this.#everywhere((process) =>
      this.#the.applications.setTenant(process, tenant, random.chance(0.8)),
    )
  }

  async #changeRights(random: Random): Promise<void> {
    const { applications, cast, world } = this.#the
    const user = cast.pick(random)
    const named = { iss: user.issuer.trusted.issuer, sub: user.sub }
    const rights = random.chance(0.15) ? null : cast.rights()
    const isForgotten = random.chance(0.3)
    await this.#everywhere(async (process) => {
      if (world.processes[process]?.rightsFrom === 'claims') return
      await applications.setRights(process, named, rights)
      if (isForgotten) await applications.forget(process, named)
    })
  }

  async #changeOpaque(random: Random): Promise<void> {
    const { applications, cast } = this.#the
    const user = cast.pick(random)
    const claims = random.chance(0.3) ? null : cast.claimsOf(user, random)
    await this.#everywhere((process) => applications.setOpaque(process, user.opaque.text, claims))
  }

  async #failFunction(random: Random): Promise<void> {
    const process = this.#anyProcess(random)
    const table = random.pick<Table>(['tenants', 'rights', 'opaque'])
    const fault = random.pick(['throws', 'hangs'] as const)
    await this.#the.applications.fail(process, table, fault)
    this.#count(`${table}: ${fault}`)
    await this.#rest(random.between(0.5, 6))
    await this.#the.applications.fail(process, table, null)
  }

  async #tellOf(user: User, isThere: boolean): Promise<void> {
    const { applications, cast, world, seed } = this.#the
    const named = { iss: user.issuer.trusted.issuer, sub: user.sub }
    const claims = cast.claimsOf(user, Random.of(seed, user.sub))
    const rights = cast.rights()
    await this.#everywhere(async (process) => {
      await applications.setOpaque(process, user.opaque.text, isThere ? claims : null)
      if (world.processes[process]?.rightsFrom === 'application') {
        await applications.setRights(process, named, isThere ? rights : null)
      }
    })
  }

  async #everywhere(act: (process: number) => Promise<void>): Promise<void> {
    await Promise.all(this.#the.world.processes.map((_, process) => act(process)))
  }

  #anyProcess(random: Random): number {
    return random.below(this.#the.world.processes.length)
  }
}
