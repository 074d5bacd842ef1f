import type { DoorOptions, Kind } from '../settings/door-options.ts'

/** How a deny list is kept. Times are in seconds. */
export interface DenyListRules {
  /** Seconds between two questions for changes, from 0.1. @default 1 */
  readonly interval: number
  /**
   * Age beyond which the list answers 503; counted from the question that was answered last. More
   * than `interval`. @default 60
   */
  readonly maxStale: number
  /**
   * What happens while the list is not loaded, or older than `maxStale`: `refuse` is 503, `admit`
   * admits tokens that may be revoked. @default 'refuse'
   */
  readonly whenStale: 'refuse' | 'admit'
  /**
   * How long entries without `until` last in this process, and how long JWTs may live. One that
   * lives longer, from `iat` to `exp`, is refused, since its entry would be gone before it; so is
   * one that lacks either, since nobody can tell. @default 86400
   */
  readonly maxLifetime: number
  /**
   * Most entries in memory. What has no room is never dropped: the list answers 503 to those whom
   * it names. Of one user 1 000 are held, and of one issuer a quarter of `maxEntries` where there
   * are several. @default 100000
   */
  readonly maxEntries: number
  /** Most bytes of all entries, about. @default 67108864 */
  readonly maxBytes: number
}

export const RULES = ['interval', 'maxStale', 'whenStale', 'maxLifetime', 'maxEntries', 'maxBytes']

const LONGEST = 2_147_483

/** Seconds of the longest `maxLifetime` that a process may have. */
export const LONGEST_LIFETIME = LONGEST

const seconds = (least: number): Kind<number> => ({
  expected: `seconds from ${least} to ${LONGEST}`,
  read: (value) => (typeof value === 'number' && value >= least && value <= LONGEST ? value : null),
})

const SIZE: Kind<number> = {
  expected: 'a whole number from 1',
  read: (value) => (Number.isSafeInteger(value) && Number(value) >= 1 ? Number(value) : null),
}

const WHEN_STALE: Kind<'refuse' | 'admit'> = {
  expected: "'refuse' or 'admit'",
  read: (value) => (value === 'refuse' || value === 'admit' ? value : null),
}

/** The rules among the options of a door; problems are noted there. */
export function readDenyListRules(options: DoorOptions): DenyListRules {
  const given = <T>(name: string, kind: Kind<T>, fallback: T): T =>
    (options.has(name) ? options.read(name, kind) : null) ?? fallback
  const rules = {
    interval: given('interval', seconds(0.1), 1),
    maxStale: given('maxStale', seconds(0.1), 60),
    whenStale: given('whenStale', WHEN_STALE, 'refuse'),
    maxLifetime: given('maxLifetime', seconds(1), 86_400),
    maxEntries: given('maxEntries', SIZE, 100_000),
    maxBytes: given('maxBytes', SIZE, 64 * 1024 * 1024),
  }
  if (rules.maxStale <= rules.interval) {
    options.refuse('maxStale', 'more than interval', `${rules.maxStale}`)
  }
  return rules
}
