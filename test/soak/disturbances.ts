import { setMaxListeners } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import type { RedisServer } from '../helpers/servers/redis-server.ts'
import type { Applications } from './applications.ts'
import { type Cast, TENANTS, type User } from './cast.ts'
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
  readonly store: RedisServer
}

/** Everything that happens beside the requests, until it is ended. */
export class Disturbances {
  readonly #the: Disturbed
  readonly #repeated: Repeated

  constructor(disturbed: Disturbed) {
    this.#the = disturbed
    this.#repeated = new Repeated(disturbed.seed, disturbed.pace)
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
    repeated.begin('tenant', [1, 5], (random) => this.#changeTenant(random))
    repeated.begin('rights', [0.5, 2], (random) => this.#changeRights(random))
    repeated.begin('opaque', [0.5, 2], (random) => this.#changeOpaque(random))
    repeated.begin('functions', [6, 20], (random) => this.#failFunction(random))
    repeated.begin('cast', [1, 3], () => this.recast())
  }

  /** Resolves when everything is as it was before. */
  end(): Promise<void> {
    return this.#repeated.end()
  }

  /** A user comes, and another one may go. */
  async recast(): Promise<void> {
    const { come, gone } = this.#the.cast.next()
    await this.#setAnswersFor(come, true)
    if (gone !== undefined) await this.#setAnswersFor(gone, false)
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
    const way = random.pick(['SIGKILL', 'SIGKILL', 'SIGTERM', 'frozen'] as const)
    world.store.begin()
    if (way === 'frozen') store.freeze()
    else await store.kill(way)
    await this.#repeated.rest(random.pick([0, 0, 2, 4, 10, 14]))
    world.store.beginReturn()
    if (way === 'frozen') store.thaw()
    else await store.start()
    world.store.end()
    this.#repeated.count(`store: ${way}`)
  }

  async #deny(random: Random): Promise<void> {
    const { applications, cast } = this.#the
    const entry = randomEntry(cast, random)
    // Not waited for: while the store is away, further ones come.
    void applications.deny(this.#anyProcess(random), entry, () => this.#repeated.isOver)
  }

  async #changeTenant(random: Random): Promise<void> {
    const { applications } = this.#the
    const tenant = random.pick(TENANTS)
    const isForgotten = random.chance(0.3)
    await this.#everywhere(async (process) => {
      const state = random.pick([true, true, true, true, 'suspended', 'suspended', false] as const)
      await applications.setTenant(process, tenant, state)
      if (isForgotten) await applications.forgetTenant(process, tenant)
    })
  }

  async #changeRights(random: Random): Promise<void> {
    const { applications, cast, world } = this.#the
    const user = cast.pick(random)
    const rights = random.chance(0.15) ? null : cast.rights(random)
    const isForgotten = random.chance(0.3)
    await this.#everywhere(async (process) => {
      if (world.processes[process]?.rightsFrom === 'claims') return
      await applications.setRights(process, namesOf(user), rights)
      if (isForgotten) await applications.forget(process, namesOf(user))
    })
  }

  async #changeOpaque(random: Random): Promise<void> {
    const { applications, cast } = this.#the
    const user = cast.pick(random)
    const claims = random.chance(0.3) ? null : cast.claimsOf(user, random)
    await this.#everywhere((process) => applications.setOpaque(process, user.opaque.text, claims))
  }

  async #failFunction(random: Random): Promise<void> {
    const { applications } = this.#the
    const process = this.#anyProcess(random)
    const table = random.pick<Table>(['tenants', 'rights', 'opaque'])
    const fault = random.pick(['throws', 'hangs'] as const)
    await applications.fail(process, table, fault)
    this.#repeated.count(`${table}: ${fault}`)
    await this.#repeated.rest(random.between(0.5, 6))
    await applications.fail(process, table, null)
  }

  async #setAnswersFor(user: User, isThere: boolean): Promise<void> {
    const { seed, applications, cast, world } = this.#the
    const random = Random.of(seed, user.sub)
    const claims = cast.claimsOf(user, random)
    const rights = cast.rights(random)
    await this.#everywhere(async (process) => {
      await applications.setOpaque(process, user.opaque.text, isThere ? claims : null)
      if (world.processes[process]?.rightsFrom === 'claims') return
      await applications.setRights(process, namesOf(user), isThere ? rights : null)
    })
  }

  async #everywhere(act: (process: number) => Promise<void>): Promise<void> {
    await Promise.all(this.#the.world.processes.map((_, process) => act(process)))
  }

  #anyProcess(random: Random): number {
    return random.below(this.#the.world.processes.length)
  }
}

/** An entry of the deny list that concerns a token, a session, a user, or an issuer. */
function randomEntry(cast: Cast, random: Random): Entry {
  const { jti, sid, sub, iss } = cast.tokenOf(cast.pick(random), random).claims
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

function namesOf({ issuer, sub }: User): { readonly iss: string; readonly sub: string } {
  return { iss: issuer.trusted.issuer, sub }
}

/** What happens again and again, each by a sequence of its own, until all is ended. */
class Repeated {
  /** How often each thing has happened. */
  readonly counts = new Map<string, number>()
  readonly #seed: number
  readonly #pace: number
  readonly #end = new AbortController()
  readonly #running: Promise<void>[] = []

  /** @param pace 1: as in the long run; less: as much in a shorter time */
  constructor(seed: number, pace: number) {
    this.#seed = seed
    this.#pace = pace
    // All that waits is ended by one signal.
    setMaxListeners(100, this.#end.signal)
  }

  get isOver(): boolean {
    return this.#end.signal.aborted
  }

  /** After so many seconds each time. */
  begin(
    name: string,
    [least, most]: readonly [number, number],
    act: (random: Random) => Promise<unknown>,
  ): void {
    const random = Random.of(this.#seed, name)
    const run = async () => {
      for (;;) {
        await this.rest(random.between(least, most))
        if (this.isOver) return
        await act(random)
        this.count(name)
      }
    }
    this.#running.push(run())
  }

  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1)
  }

  /** Waits so many seconds, or until the end. */
  async rest(seconds: number): Promise<void> {
    await wait(seconds * 1000 * this.#pace, undefined, this.#end).catch(() => {})
  }

  /** Resolves when all that had begun is over. */
  async end(): Promise<void> {
    this.#end.abort()
    await Promise.all(this.#running)
  }
}
