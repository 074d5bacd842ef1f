// Outside: documents of other servers, which grow old.

import type { BackOffRules } from './back-off.ts'
import { ownCopy } from './own-copy.ts'

/** How long a document serves and when it is asked for again. Times are in seconds. */
export interface Freshness extends BackOffRules {
  /** Limit of one whole load. */
  readonly timeout: number
  /** Limit of the waits for a place before that, all together. Default: none has to wait. */
  readonly line?: number
  /** Age up to which the document is fresh. A new one is asked for before that. */
  readonly maxAge: number
  /** Time beyond `maxAge` for which it still serves while no new one can be had. */
  readonly maxStale: number
  /**
   * Whether it is loaded on demand: a load that is due begins when somebody asks, so that what is
   * not used is not asked for. Otherwise a timer keeps it fresh.
   */
  readonly isLazy?: boolean
}

/** All of it, as members of its own. */
export function wholeFreshness(given: Freshness): Required<Freshness> {
  const { line = 0, isLazy = false } = ownCopy(given)
  return { ...given, line, isLazy }
}

/** The part of `maxAge` after which a new document is asked for in the background. */
const REFRESH_AT = 0.8

/** Milliseconds of age at which a new document is asked for. */
export function refreshAge({ maxAge }: Freshness): number {
  return maxAge * 1000 * REFRESH_AT
}

/** Milliseconds of age from which a document serves no more. */
export function lastAge({ maxAge, maxStale }: Pick<Freshness, 'maxAge' | 'maxStale'>): number {
  return (maxAge + maxStale) * 1000
}
