import * as Type from '@sinclair/typebox'
import { Seconds, Size } from '../../config/option-types.ts'

/** Common options of deny lists. Times are in seconds. */
export interface DenyListRules {
  /** Seconds between two questions for changes, from 0.1. @default 1 */
  readonly interval: number
  /**
   * Age beyond which the list answers 503; counted from the question that was answered last. More
   * than `interval`. @default 60
   */
  readonly maxStale: number
  /**
   * While the list is not loaded, or older than `maxStale`, `refuse` answers 503, and `admit`
   * admits tokens that may be revoked. @default 'refuse'
   */
  readonly whenStale: 'refuse' | 'admit'
  /**
   * How long entries without `until` last in this process, and how long JWTs may live. A JWT that
   * lives longer, from `iat` to `exp`, is refused, since its entry would be gone before it; so is
   * one that lacks either, since its life is not known. @default 86400
   */
  readonly maxLifetime: number
  /**
   * Most entries in memory. What has no room is never dropped: the list answers 503 to those whom
   * it names. Of one user 1 000 are held, and of one issuer a quarter of `maxEntries` and
   * of `maxBytes` if there are several. @default 100000
   */
  readonly maxEntries: number
  /** Most bytes of all entries, about. @default 67108864 */
  readonly maxBytes: number
}

export const RULES = {
  interval: Seconds(1, 0.1),
  maxStale: Seconds(60, 0.1),
  whenStale: Type.Union([Type.Literal('refuse'), Type.Literal('admit')], {
    default: 'refuse',
    expected: "'refuse' or 'admit'",
  }),
  maxLifetime: Seconds(86_400, 1),
  maxEntries: Size(100_000, 1),
  maxBytes: Size(64 * 1024 * 1024, 1),
}

export function checkRules(options: {
  readonly right: Partial<DenyListRules>
  refuse(name: 'maxStale', expected: string, found: string): void
}): void {
  const { interval = 0, maxStale = 0 } = options.right
  if (maxStale <= interval) options.refuse('maxStale', 'more than interval', `${maxStale}`)
}
