import type { KeptEntry } from './deny-entry.ts'

/** Some entries of a store. */
export interface Page<Cursor> {
  /** Unchecked: what cannot be read is a failure. */
  readonly entries: Iterable<unknown>
  /** Handed to the next question. */
  readonly cursor: Cursor
  /** When the store took each of them, in milliseconds since the epoch. Absent: it does not say. */
  readonly keptAt?: readonly number[]
  /** Whether there are more now. */
  readonly hasMore?: boolean
  /** What the operator should know, in constant words. */
  readonly notice?: string | undefined
}

/** Where the entries of all processes are kept. */
export interface DenyListSource<Cursor> {
  /**
   * Entries that were added since a cursor, or all; may repeat what it has told before.
   *
   * @param cursor what the last answer gave; null: all entries that have not ended
   */
  changes(cursor: Cursor | null): Promise<Page<Cursor>>
  /** Keeps an entry, so that `changes` tells it in every process. */
  append?: ((entry: KeptEntry) => unknown) | undefined
}
