import type { DoorOptions, Kind } from '../settings/door-options.ts'

/** How a deny list is kept. Times are in seconds. */
export interface DenyListRules {
  /** Seconds between two questions for changes, from 0.1. @default 5 */
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
   * How long entries without `until` last, and how long tokens may live. A token that lives longer,
   * from `iat` to `exp`, is refused, since its entry would be gone before it. Without `iat` it
   * counts from now: it is refused while more than this is left of it. A token without `exp` is
   * refused. @default 86400
   */
  readonly maxLifetime: number
  /**
   * Most entries in memory. Beyond them the list answers 503 until there is room again. Of one
   * issuer 10 000 are held, and beyond them its tokens get 503. @default 100000
   */
  readonly maxEntries: number
}

export const RULES = ['interval', 'maxStale', 'whenStale', 'maxLifetime', 'maxEntries']

const LONGEST = 2_147_483

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
    interval: given('interval', seconds(0.1), 5),
    maxStale: given('maxStale', seconds(0.1), 60),
    whenStale: given('whenStale', WHEN_STALE, 'refuse'),
    maxLifetime: given('maxLifetime', seconds(1), 86_400),
    maxEntries: given('maxEntries', SIZE, 100_000),
  }
  if (rules.maxStale <= rules.interval) {
    options.refuse('maxStale', 'more than interval', `${rules.maxStale}`)
  }
  return rules
}
