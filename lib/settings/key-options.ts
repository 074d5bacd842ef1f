import { Seconds } from './option-kinds.ts'

/** How the keys of an authorization server are fetched and kept. */
export const keyOptions = {
  /** Limit of one fetch of the key set, body included, in seconds from 0. @default 5 */
  keysTimeout: Seconds(5),

  /**
   * How long a key set is fresh, in seconds from 0. A new one is fetched in the background before
   * that.
   * @default 600
   */
  keysMaxAge: Seconds(600),

  /**
   * How long beyond `keysMaxAge` a key set still serves while no newer one can be had, in seconds
   * from 0.
   * @default 3600
   */
  keysMaxStale: Seconds(3600),

  /**
   * Least time between two fetches that unknown keys cause, in seconds from 0; also the longest
   * wait between retries.
   * @default 30
   */
  keysCooldown: Seconds(30),

  /**
   * Wait before a failed fetch is tried again, in seconds from 0; doubles with each failure up to
   * `keysCooldown`.
   * @default 1
   */
  keysRetry: Seconds(1),
}
