import type { AnswerTable, WeightRules } from './answer-cache.ts'
import type { AnswerRules } from './call-with-timeout.ts'
import type { LineRules } from './line.ts'

// Outside: functions of the application, and the strangers whose requests call them.

/**
 * The calls of a function of the application, and the times for which its answers serve. `A` is its
 * answer, `K` the value made of that and cached.
 */
export interface CallbackRules<A, K = A> extends Omit<AnswerRules<A>, 'read'> {
  ask(about: string): unknown
  /**
   * The meaning of an answer; undefined: it has none. Then the answer before is dropped.
   *
   * @throws Unusable, which names the member that cannot be used
   */
  read(value: unknown, key: string): A | undefined
  /**
   * The value of an answer, which is cached and returned.
   *
   * @param before the value of the answer before; undefined: there is none
   * @param askedAt when it was asked for: a reading of `clock`
   */
  toValue(answer: A, key: string, before: K | undefined, askedAt: number): K
  /**
   * Called with each value that was not forgotten on its way, once it is in the cache, if it is
   * cached at all.
   */
  onCached?(value: K, key: string): void
  /**
   * Called when a question has failed.
   *
   * @param before the value of the answer before
   * @param isOver the function gave what is no answer: the one before serves no more
   */
  onFailed?(error: unknown, key: string, before: K | undefined, isOver: boolean): void
  /**
   * Takes a value that is cached no more, or was not cached: the table is full, another answer says
   * no or cannot be used, or it was forgotten on its way.
   */
  onDropped?(value: K): void
  /**
   * Seconds for which a value is cached; 0: it is not. They count from the question, but from the
   * answer if it says no.
   */
  keptFor(value: K): number
  /** Most answers in the cache, but those that say no. Default: 0. */
  readonly maxKept?: number
  /** Bounds the memory of the answers, and apart from them of those that say no. */
  readonly weight?: WeightRules<K>
  /** A cache for answers that say no. It has a table of its own, because strangers make up keys. */
  readonly refusals?: { is(value: K): boolean; readonly maxKept: number }
  /**
   * Seconds beyond its time for which the last good answer serves while a newer one cannot be had:
   * while the function throws or is late, or has no place.
   */
  readonly maxStale?: number
  /**
   * An answer that is used is asked for anew in the background before its time is over, so that no
   * request waits for it.
   */
  readonly renews?: boolean
  /** Not given: any number of questions at once. */
  readonly line?: LineRules
  /**
   * If given, known keys have places and a line of their own, of the same length, so that strangers
   * cannot use them up.
   */
  readonly known?: {
    has(key: string): boolean
    /** The share of a known key, as in the rules of a line. */
    shareOf?(key: string): string
  }
  /** The cache of the answers, but of those that say no. Default: a table of `maxKept`. */
  readonly table?: AnswerTable<K>
}
