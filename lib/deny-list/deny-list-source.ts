import type { Changes, KeptEntry } from './deny-entry.ts'

/** Where the entries of all processes are kept. */
export interface DenyListSource<Cursor> {
  /**
   * Entries that were added since a cursor, or all; may repeat what it has told before.
   *
   * @param cursor what the last answer gave; null: all entries that have not ended
   */
  changes(cursor: Cursor | null): Changes<Cursor> | Promise<Changes<Cursor>>
  /** Keeps an entry, so that `changes` tells it in every process. */
  append?: ((entry: KeptEntry) => unknown) | undefined
  /**
   * Begins to listen for messages that there are changes; they may be lost.
   *
   * @param tell what the operator should know, in constant words
   */
  listen?(wake: () => void, tell: (reason: string) => void): void
  /** Ends that. */
  end?(): void
}
