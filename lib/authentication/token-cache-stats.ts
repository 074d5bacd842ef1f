/** What a cache of verified tokens can tell of itself. */
export interface TokenCacheStats {
  /** Tokens that are kept. */
  readonly size: number
  /** Requests whose token was known. */
  readonly hits: number
  /** Requests whose token had to be verified, or was refused without being known. */
  readonly misses: number
  /** Tokens that had to go because there was no room. */
  readonly evictions: number
}
