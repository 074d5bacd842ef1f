import type { Fault } from './answer-history.ts'
import { ApplicationProcess } from './application-process.ts'
import type { Order, Table, TableValue, Task } from './orders.ts'
import type { Entry } from './revocations.ts'
import type { Claims, Resources } from './token.ts'
import { type TenantState, World } from './world.ts'

/**
 * All processes of the application. What is changed in one of them is written into the world as it
 * is ordered.
 */
export class Applications {
  readonly #world: World
  readonly #all: readonly ApplicationProcess[]

  private constructor(world: World, all: readonly ApplicationProcess[]) {
    this.#world = world
    this.#all = all
  }

  /** @param taskOf what a process is started with, by its number */
  static async start(world: World, taskOf: (process: number) => Task): Promise<Applications> {
    const all = await Promise.all(
      world.processes.map(({ stalls }, process) => {
        const task = taskOf(process)
        return ApplicationProcess.start(task, (report) => {
          if (report.kind === 'stalled') stalls.note(report.length)
          if (report.kind !== 'fetched') return
          const from = task.issuers.find(({ publicKeysUrl }) => publicKeysUrl === report.url)
          world.issuers.get(from?.issuer ?? '')?.served[process]?.receive()
        })
      }),
    )
    return new Applications(world, all)
  }

  get all(): readonly ApplicationProcess[] {
    return this.#all
  }

  at(process: number): ApplicationProcess {
    const found = this.#all[process]
    if (found === undefined) throw new Error(`there is no process ${process}`)
    return found
  }

  /** Lets go of all. What was wrong with that. */
  async end(): Promise<string[]> {
    const ends = this.#all.map(async (process, number) => {
      const trouble = await process.end()
      return trouble === null ? [] : [`process ${number} ${trouble}`]
    })
    return (await Promise.all(ends)).flat()
  }

  async setClock(process: number, offset: number): Promise<void> {
    await this.#order(
      process,
      { do: 'setClock', offset },
      this.#worldOf(process).clock.change(offset),
    )
  }

  async setTenant(process: number, tenant: string, state: TenantState): Promise<void> {
    const done = this.#worldOf(process).tenants.change(tenant, state)
    await this.#setAnswer(process, 'tenants', tenant, state === false ? null : state, done)
  }

  async forgetTenant(process: number, tenant: string): Promise<void> {
    await this.#order(process, { do: 'forget', what: { tenant } }, () => {
      this.#worldOf(process).tenants.forget(tenant)
    })
  }

  async setRights(process: number, user: Pick<Claims, 'iss' | 'sub'>, rights: Resources | null) {
    const key = World.userKey({ issuer: user.iss, sub: user.sub })
    const done = this.#worldOf(process).rights.change(key, rights)
    await this.#setAnswer(process, 'rights', key, rights, done)
  }

  async setOpaque(process: number, token: string, claims: Claims | null): Promise<void> {
    const done = this.#worldOf(process).opaque.change(token, claims)
    await this.#setAnswer(process, 'opaque', token, claims, done)
  }

  async fail(process: number, table: Table, fault: Fault | null): Promise<void> {
    const done = this.#worldOf(process)[table].fail(fault)
    await this.#order(process, { do: 'fail', table, fault }, done)
  }

  async forget(process: number, { iss, sub }: Pick<Claims, 'iss' | 'sub'>): Promise<void> {
    const key = World.userKey({ issuer: iss, sub })
    await this.#order(process, { do: 'forget', what: { issuer: iss, sub } }, () => {
      this.#worldOf(process).rights.forget(key)
    })
  }

  /** Adds an entry, again and again until it is kept for all. */
  async deny(process: number, entry: Entry, isOver: () => boolean): Promise<void> {
    const { revocations } = this.#world
    const added = revocations.begin(entry, process)
    for (let isKept = false; !isKept && !isOver() && this.at(process).isAlive; ) {
      isKept = (await this.at(process).carryOut({ do: 'deny', entry })) === true
      revocations.end(added, isKept)
    }
  }

  async #setAnswer(
    process: number,
    table: Table,
    key: string,
    value: TableValue,
    done: () => void,
  ): Promise<void> {
    await this.#order(process, { do: 'setAnswer', table, key, value }, done)
  }

  async #order(process: number, order: Order, done: () => void): Promise<void> {
    await this.at(process).carryOut(order)
    done()
  }

  #worldOf(process: number) {
    const found = this.#world.processes[process]
    if (found === undefined) throw new Error(`there is no process ${process}`)
    return found
  }
}
