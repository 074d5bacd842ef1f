/** What a server is sent in turn, again and again, and the one status that is right. */
export interface Load {
  readonly path: string
  /** Values of the Authorization header. Empty: requests without one. */
  readonly authorizations: readonly string[]
  /** A value of the DPoP header for each of them. Not given: there is none. */
  readonly proofs?: readonly string[]
  readonly status: number
}

/** How many answers came with each status. */
export type Statuses = ReadonlyMap<number, number>

/** A program that keeps a server busy. */
export interface Driver {
  /** At least so many seconds, over 32 connections. @throws Error if a connection fails */
  drive(address: string, load: Load, seconds: number): Promise<Statuses>
}

export const CONNECTIONS = 32
