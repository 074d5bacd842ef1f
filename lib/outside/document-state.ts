// Outside: documents of other servers, as operators see them.

/** What an operator sees of a document. */
export interface DocumentState {
  /** `stale`: beyond its age, and served while no new one can be had. `none`: there is none. */
  readonly state: 'fresh' | 'stale' | 'none'
  /** Seconds since the last good load; null where there was none. */
  readonly age: number | null
  /** Why the last attempt failed, in constant words; null where it did not. */
  readonly failure: string | null
}

/** What becomes of a document. `stale`: it serves beyond its age. `gone`: it serves no more. */
export type DocumentChange = 'fetched' | 'failed' | 'stale' | 'gone'

export type TellChange = (change: DocumentChange, state: DocumentState) => void
