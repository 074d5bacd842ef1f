import type { AnswerTable, WeightRules } from './answer-cache.ts'
import type { AnswerRules } from './call-with-timeout.ts'
import type { LineRules } from './line.ts'

// Outside: functions of the application, and the strangers whose requests ask them.

/**
 * How a function of the application is asked, and for how long its answers serve. `A` is what it
 * answers, `K` what is made of that and kept.
 */
export interface CallbackRules<A, K = A> extends Omit<AnswerRules<A>, 'read'> {
  ask(about: string): unknown
  /**
   * What an answer stands for; undefined: it is none. Then nothing is kept of the answer before.
   *
   * @throws Unusable, which names the member that cannot be used
   */
  read(value: unknown, key: string): A | undefined
  /**
   * What is kept of an answer, and given for it.
   *
   * @param before what is kept of the answer before; undefined: nothing
   * @param askedAt when it was asked for: a reading of `clock`
   */
  learn(answer: A, key: string, before: K | undefined, askedAt: number): K
  /**
   * Is told that a question has failed, and what is kept of the answer before.
   *
   * @param isOver the function gave what is no answer: the one before serves no more
   */
  failed?(error: unknown, key: string, before: K | undefined, isOver: boolean): void
  /**
   * Is told what is kept no more, or was not kept: the table is full, another answer says no or
   * cannot be used, or it was forgotten on its way.
   */
  drop?(kept: K): void
  /**
   * Seconds that an answer is kept; 0: it is not. They count from the question, but from the answer
   * of what says no.
   */
  keptFor(kept: K): number
  /** Most answers that are kept, but those that say no. */
  readonly maxKept: number
  /** Bounds what the answers keep alive, and apart from them those that say no. */
  readonly weight?: WeightRules<K>
  /**
   * Answers that say no, where they are kept: in a table of their own, because strangers make up
   * keys.
   */
  readonly refusals?: {
    is(kept: K): boolean
    readonly maxKept: number
  }
  /**
   * Seconds beyond its time for which the last good answer serves while a newer one cannot be had:
   * while the function throws or is late, or has no place.
   */
  readonly maxStale?: number
  /**
   * Whether an answer that is used is asked for anew in the background before its time is over, so
   * that no request waits for it.
   */
  readonly renews?: boolean
  /** How many questions it is asked at once, and how many wait. Not given: any number at once. */
  readonly line?: LineRules
  /**
   * Whether a key is known. Where this is given, known keys have places and a line of their own, of
   * the same length, so that strangers cannot use them up.
   */
  isKnown?(key: string): boolean
  /** Where the answers are kept, but those that say no. Default: a table of `maxKept`. */
  readonly table?: AnswerTable<K>
}
