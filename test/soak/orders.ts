import type { Fault } from './answer-history.ts'
import type { Entry } from './revocations.ts'
import type { Claims, Resources } from './token.ts'
import type { RightsFrom, TenantState } from './world.ts'

/** What a process of the application is started with. */
export interface Task {
  /** The folder of the package's sources. */
  readonly lib: string
  readonly issuers: readonly {
    readonly issuer: string
    readonly publicKeysUrl: string
    readonly tenants: '*' | readonly string[]
  }[]
  readonly rightsFrom: RightsFrom
  /** The server of Redis that has the deny list. */
  readonly storeUrl: string
}

/** What a process holds. */
export interface Measured {
  /** Bytes in use after collections. */
  readonly heap: number
  /** Bytes. */
  readonly rss: number
  /** How many resources of each type keep the process alive. */
  readonly handles: Readonly<Record<string, number>>
  /** Entries of the deny list in memory. */
  readonly entries: number
  /** Users whose rights the application was asked for. */
  readonly users: number
}

/** Functions of the application whose answers are ordered. */
export type Table = 'tenants' | 'rights' | 'opaque'

/** What a table knows of a key; null: nothing. */
export type TableValue = Exclude<TenantState, false> | Resources | Claims | null

export type Order =
  | { readonly do: 'setClock'; readonly offset: number }
  | {
      readonly do: 'setAnswer'
      readonly table: Table
      readonly key: string
      readonly value: TableValue
    }
  | { readonly do: 'fail'; readonly table: Table; readonly fault: Fault | null }
  | { readonly do: 'forget'; readonly what: { issuer: string; sub: string } | { tenant: string } }
  | { readonly do: 'deny'; readonly entry: Entry }
  | { readonly do: 'measure' }

/** From the parent. */
export interface Ordered {
  readonly id: number
  readonly order: Order
}

/**
 * From a process: that it listens, what became of an order, that it stood still, or that it has a
 * whole answer from an address.
 */
export type Report =
  | { readonly kind: 'listening'; readonly address: string }
  | { readonly kind: 'done'; readonly id: number; readonly answer: boolean | Measured }
  | { readonly kind: 'stalled'; readonly length: number }
  | { readonly kind: 'fetched'; readonly url: string }
