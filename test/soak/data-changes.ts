import type { Applications } from './applications.ts'
import { type Cast, TENANTS, type User } from './cast.ts'
import type { Table } from './orders.ts'
import { Random } from './random.ts'
import type { Repeated } from './repeated.ts'
import type { World } from './world.ts'

/** What changes in the data that the applications have. */
export class DataChanges {
  readonly #seed: number
  readonly #world: World
  readonly #applications: Applications
  readonly #cast: Cast

  constructor(seed: number, world: World, applications: Applications, cast: Cast) {
    this.#seed = seed
    this.#world = world
    this.#applications = applications
    this.#cast = cast
  }

  begin(repeated: Repeated): void {
    repeated.begin('tenant', [1, 5], (random) => this.#changeTenant(random))
    repeated.begin('rights', [0.5, 2], (random) => this.#changeRights(random))
    repeated.begin('opaque', [0.5, 2], (random) => this.#changeOpaque(random))
    repeated.begin('functions', [6, 20], (random) => this.#failFunction(repeated, random))
    repeated.begin('cast', [1, 3], () => this.recast())
  }

  /** A user comes, and another one may go. */
  async recast(): Promise<void> {
    const { come, gone } = this.#cast.next()
    await this.#tellOf(come, true)
    if (gone !== undefined) await this.#tellOf(gone, false)
  }

  async #changeTenant(random: Random): Promise<void> {
    const tenant = random.pick(TENANTS)
    await this.#everywhere((process) =>
      this.#applications.setTenant(process, tenant, random.chance(0.8)),
    )
  }

  async #changeRights(random: Random): Promise<void> {
    const user = this.#cast.pick(random)
    const rights = random.chance(0.15) ? null : this.#cast.rights(random)
    const isForgotten = random.chance(0.3)
    await this.#everywhere(async (process) => {
      if (this.#world.processes[process]?.rightsFrom === 'claims') return
      await this.#applications.setRights(process, namesOf(user), rights)
      if (isForgotten) await this.#applications.forget(process, namesOf(user))
    })
  }

  async #changeOpaque(random: Random): Promise<void> {
    const user = this.#cast.pick(random)
    const claims = random.chance(0.3) ? null : this.#cast.claimsOf(user, random)
    await this.#everywhere((process) =>
      this.#applications.setOpaque(process, user.opaque.text, claims),
    )
  }

  async #failFunction(repeated: Repeated, random: Random): Promise<void> {
    const process = random.below(this.#world.processes.length)
    const table = random.pick<Table>(['tenants', 'rights', 'opaque'])
    const fault = random.pick(['throws', 'hangs'] as const)
    await this.#applications.fail(process, table, fault)
    repeated.count(`${table}: ${fault}`)
    await repeated.rest(random.between(0.5, 6))
    await this.#applications.fail(process, table, null)
  }

  async #tellOf(user: User, isThere: boolean): Promise<void> {
    const random = Random.of(this.#seed, user.sub)
    const claims = this.#cast.claimsOf(user, random)
    const rights = this.#cast.rights(random)
    await this.#everywhere(async (process) => {
      await this.#applications.setOpaque(process, user.opaque.text, isThere ? claims : null)
      if (this.#world.processes[process]?.rightsFrom === 'claims') return
      await this.#applications.setRights(process, namesOf(user), isThere ? rights : null)
    })
  }

  async #everywhere(act: (process: number) => Promise<void>): Promise<void> {
    await Promise.all(this.#world.processes.map((_, process) => act(process)))
  }
}

function namesOf({ issuer, sub }: User): { readonly iss: string; readonly sub: string } {
  return { iss: issuer.trusted.issuer, sub }
}
