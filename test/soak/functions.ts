import type { Fault } from './answer-history.ts'
import type { Table, TableValue } from './orders.ts'
import type { Claims, Resources } from './token.ts'
import type { TenantState } from './world.ts'

/** The functions of an application, which answer as ordered, or fail. */
export class OrderedFunctions {
  readonly #values = new Map<string, TableValue>()
  readonly #faults = new Map<Table, Fault>()
  /** Whose rights were asked for. */
  readonly users = new Set<string>()

  setAnswer(table: Table, key: string, value: TableValue): void {
    if (value === null) this.#values.delete(`${table} ${key}`)
    else this.#values.set(`${table} ${key}`, value)
  }

  fail(table: Table, fault: Fault | null): void {
    if (fault === null) this.#faults.delete(table)
    else this.#faults.set(table, fault)
  }

  readonly tenants = (tenant: string): TenantState | Promise<TenantState> => {
    return this.#answer(
      'tenants',
      tenant,
      (value) => value === true || (value === 'suspended' && value),
    )
  }

  readonly resourcesOf = (user: {
    readonly issuer: string | null
    readonly sub: string
  }): Resources | null | Promise<Resources | null> => {
    const key = JSON.stringify([user.issuer, user.sub])
    this.users.add(key)
    return this.#answer('rights', key, (value) => (isRights(value) ? value : null))
  }

  readonly opaqueToken = (token: string): Claims | null | Promise<Claims | null> => {
    return this.#answer('opaque', token, (value) => (isClaims(value) ? value : null))
  }

  /** A check does what its request says. */
  check(says: unknown): boolean | Promise<boolean> {
    if (says === 'throws') throw new Error('the database is away')
    return says === 'hangs' ? new Promise(() => {}) : says === 'yes'
  }

  #answer<T>(table: Table, key: string, read: (value: TableValue) => T): T | Promise<T> {
    const fault = this.#faults.get(table)
    if (fault === 'throws') throw new Error('the database is away')
    if (fault === 'hangs') return new Promise(() => {})
    return read(this.#values.get(`${table} ${key}`) ?? null)
  }
}

function isClaims(value: TableValue): value is Claims {
  return typeof value === 'object' && value !== null && typeof value['iss'] === 'string'
}

function isRights(value: TableValue): value is Resources {
  return typeof value === 'object' && value !== null && !isClaims(value)
}
