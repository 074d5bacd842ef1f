// Outside: functions of the application that are slow, fail, or are asked by many strangers at
// once.

import { type AnswerRules, askApplication } from './ask-application.ts'
import { clock } from './clock.ts'
import { KeptAnswers } from './kept-answers.ts'
import { attempt, type NowOrLater } from './now-or-later.ts'
import { ignoreRejection } from './thenable.ts'
import { Waits } from './waits.ts'

/** How a function of the application is asked, and for how long its answers serve. */
export interface AskedAnswersRules<T> extends AnswerRules<T> {
  ask(key: string): unknown
  /** Seconds that an answer is kept; 0: it is not. */
  keptFor(answer: T): number
  /** Most answers that are kept, but those that say no. */
  readonly maxKept: number
  /**
   * Answers that say no, where they are kept: in a table of their own, because strangers make up
   * keys.
   */
  readonly refusals?: {
    is(answer: T): boolean
    readonly maxKept: number
  }
  /**
   * Seconds beyond its time for which the last good answer serves while a newer one cannot be had.
   */
  readonly maxStale?: number
  /** Most questions that are open. Further ones are refused at once. */
  readonly maxOpen?: number
}

/** Seconds that the last good answer serves after a failure, before the function is asked again. */
const REST = 1

/**
 * What a function of the application answers, by key. Requests that arrive together ask it once,
 * and an answer that is kept costs no promise.
 */
export class AskedAnswers<T> {
  readonly #rules: AskedAnswersRules<T>
  readonly #answers: KeptAnswers<T>
  readonly #refusals: KeptAnswers<T>
  readonly #open = new Map<string, Promise<T>>()
  /** Of the questions, which the requests of several applications may share. */
  readonly #waits = new Waits()

  constructor(rules: AskedAnswersRules<T>) {
    this.#rules = rules
    this.#answers = new KeptAnswers(rules.maxKept)
    this.#refusals = new KeptAnswers(rules.refusals?.maxKept ?? 0)
  }

  open(): void {
    this.#waits.resume()
  }

  /** Ends the questions that are open. */
  close(): void {
    this.#waits.end()
  }

  /**
   * The answer for a key; a promise only where it has to be asked for, and then one of `waits`.
   *
   * @throws what the rules refuse with, where no answer can be had
   */
  get(key: string, waits: Waits): NowOrLater<T> {
    const kept = this.#answers.get(key) ?? this.#refusals.get(key)
    if (kept !== undefined && clock.now() < kept.freshUntil) return kept.answer
    const answer = this.#open.get(key) ?? this.#ask(key)
    if (kept?.isFailing && answer instanceof Promise && clock.now() < kept.goodUntil) {
      // One request has waited in vain. The others do not wait for what they can do without.
      ignoreRejection(answer)
      return kept.answer
    }
    return waits.for(answer, () =>
      this.#rules.refuse('had not answered when the application closed'),
    )
  }

  #ask(key: string): NowOrLater<T> {
    const { maxOpen = Number.POSITIVE_INFINITY } = this.#rules
    if (this.#open.size >= maxOpen) {
      return this.#lastGood(key, this.#rules.refuse('has too many open questions'))
    }
    const answer = attempt(
      () => askApplication({ ...this.#rules, ask: () => this.#rules.ask(key), waits: this.#waits }),
      (learnt) => this.#learn(key, learnt),
      (error) => this.#lastGood(key, error),
    )
    if (!(answer instanceof Promise)) return answer
    const settled = answer.finally(() => this.#open.delete(key))
    this.#open.set(key, settled)
    return settled
  }

  #learn(key: string, answer: T): T {
    const { refusals, maxStale = 0 } = this.#rules
    this.#answers.delete(key)
    const keptFor = this.#rules.keptFor(answer)
    if (keptFor <= 0) return answer
    const freshUntil = clock.now() + keptFor * 1000
    const goodUntil = freshUntil + maxStale * 1000
    const table = refusals?.is(answer) ? this.#refusals : this.#answers
    table.set(key, { answer, freshUntil, goodUntil, isFailing: false })
    return answer
  }

  /** Not one that says no: it is never served beyond its time. */
  #lastGood(key: string, error: unknown): T {
    const now = clock.now()
    const kept = this.#answers.get(key)
    if (kept === undefined || now >= kept.goodUntil) throw error
    kept.freshUntil = Math.min(now + REST * 1000, kept.goodUntil)
    kept.isFailing = true
    return kept.answer
  }
}
