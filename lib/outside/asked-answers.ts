// Outside: functions of the application that are slow, fail, or are asked by many strangers at
// once.

import { askApplication, type Question } from './ask-application.ts'
import type { AskingRules } from './asking-rules.ts'
import { clock } from './clock.ts'
import { type AnswerTable, type Kept, KeptAnswers } from './kept-answers.ts'
import type { NowOrLater } from './now-or-later.ts'
import { type OpenQuestion, OpenQuestions } from './open-questions.ts'
import { ignoreRejection } from './thenable.ts'
import { Waits } from './waits.ts'

/** Seconds that the last good answer serves after a failure, before the function is asked again. */
const REST = 1

/** The part of its time after which an answer that renews is asked for anew. */
const RENEW_AT = 0.8

/**
 * What a function of the application answers, by key. Requests that arrive together ask it once,
 * and an answer that is kept costs no promise.
 */
export class AskedAnswers<A, K = A> {
  readonly #rules: AskingRules<A, K>
  readonly #answers: AnswerTable<K>
  readonly #refusals: KeptAnswers<K>
  readonly #open: OpenQuestions<K>
  /** Those of known keys, where they are counted apart. */
  readonly #openOfKnown: OpenQuestions<K>
  /** Of the questions, which the requests of several applications may share. */
  readonly #waits = new Waits()

  constructor(rules: AskingRules<A, K>) {
    const { maxOpen = Number.POSITIVE_INFINITY, weight } = rules
    this.#rules = rules
    this.#open = new OpenQuestions(maxOpen)
    this.#openOfKnown = rules.knownApart === true ? new OpenQuestions(maxOpen) : this.#open
    this.#answers =
      rules.table ?? new KeptAnswers(rules.maxKept, (kept) => rules.drop?.(kept), weight)
    this.#refusals = new KeptAnswers(rules.refusals?.maxKept ?? 0, () => {}, weight)
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
   * @param about what the function is asked, where that is not the key
   * @throws what the rules refuse with, where no answer can be had
   */
  get(key: string, waits: Waits, about = key): NowOrLater<K> {
    const kept = this.#serving(key)
    if (kept !== undefined) return kept.answer
    const answer = this.#asked(key) ?? this.#ask(key, about)
    return waits.for(answer, () =>
      this.#rules.refuse('had not answered when the application closed'),
    )
  }

  /** The answer that is kept for a key and serves now; undefined: it has to be asked for. */
  fresh(key: string): K | undefined {
    return this.#serving(key)?.answer
  }

  /**
   * What is kept for the keys that fit serves no more. Answers that are under way serve those who
   * have asked, and are not kept.
   */
  forget(fits: (key: string) => boolean = () => true): void {
    this.#answers.expire(fits)
    this.#refusals.expire(fits)
    this.#open.forget(fits)
    this.#openOfKnown.forget(fits)
  }

  /** What is kept, but what says no. */
  values(): K[] {
    return this.#answers.values()
  }

  #find(key: string): Kept<K> | undefined {
    return this.#answers.get(key) ?? this.#refusals.get(key)
  }

  /** An answer that comes at once where one is renewed counts at once: it may say less. */
  #serving(key: string): Kept<K> | undefined {
    const now = clock.now()
    const kept = this.#find(key)
    if (kept === undefined || now >= kept.freshUntil) return undefined
    if (now < kept.renewAt || this.#asked(key) !== undefined) return kept
    this.#renew(key)
    const renewed = this.#find(key)
    return renewed !== undefined && now < renewed.freshUntil ? renewed : undefined
  }

  /** Where this fails, whoever asks next is told. */
  #renew(key: string): void {
    try {
      ignoreRejection(this.#ask(key))
    } catch {
      // The function answered at once, with what is no answer.
    }
  }

  #asked(key: string): Promise<K> | undefined {
    return this.#openOfKnown.get(key) ?? this.#open.get(key)
  }

  #ask(key: string, about = key): NowOrLater<K> {
    const open = this.#isKnown(key) ? this.#openOfKnown : this.#open
    if (open.isFull) return this.#lastGood(key, this.#rules.refuse('has too many open questions'))
    let hasAnswered = false
    const { timeout, refuse } = this.#rules
    const question: Question<A> = {
      timeout,
      refuse,
      ask: () => this.#rules.ask(about),
      read: (value) => {
        hasAnswered = true
        return this.#rules.read(value, key)
      },
      waits: this.#waits,
    }
    return open.ask(key, {
      run: () => askApplication(question),
      done: (answer, asked) => this.#learn(answer, asked),
      failed: (error, { isForgotten }) => {
        // To be late and to throw is an outage. An answer that cannot be used is none: nobody knows
        // what it was to say, and it may have been less.
        const isOver = hasAnswered && !isForgotten
        this.#rules.failed?.(error, key, this.#answers.get(key)?.answer, isOver)
        if (isOver) this.#end(key)
        return this.#lastGood(key, error)
      },
    })
  }

  #isKnown(key: string): boolean {
    return this.#rules.isKnown?.(key) ?? this.#answers.get(key) !== undefined
  }

  /** What is kept for a key serves no more, and for nobody. */
  #end(key: string): void {
    const before = this.#answers.get(key)?.answer
    this.#answers.delete(key)
    if (before !== undefined) this.#rules.drop?.(before)
  }

  #learn(answer: A, { key, askedAt, isForgotten }: OpenQuestion): K {
    // Asked before it was forgotten: it may be what was forgotten.
    if (isForgotten) {
      const forgotten = this.#rules.learn(answer, key, undefined, askedAt)
      this.#rules.drop?.(forgotten)
      return forgotten
    }
    const before = this.#answers.get(key)?.answer
    const kept = this.#rules.learn(answer, key, before, askedAt)
    const isRefusal = this.#rules.refusals?.is(kept) ?? false
    const keptFor = this.#rules.keptFor(kept) * 1000
    if (isRefusal || keptFor <= 0) this.#end(key)
    if (keptFor > 0) this.#keep(key, kept, keptFor, isRefusal ? undefined : askedAt)
    return kept
  }

  /** @param askedAt undefined: it says no */
  #keep(key: string, kept: K, keptFor: number, askedAt: number | undefined): void {
    const { maxStale = 0, renews = false } = this.#rules
    const table = askedAt === undefined ? this.#refusals : this.#answers
    // What has changed since it was asked for, a slow answer does not say.
    const since = askedAt ?? clock.now()
    table.set(key, {
      answer: kept,
      renewAt:
        renews && askedAt !== undefined ? since + keptFor * RENEW_AT : Number.POSITIVE_INFINITY,
      freshUntil: since + keptFor,
      goodUntil: since + keptFor + maxStale * 1000,
    })
  }

  /**
   * Serves up to the end of the next question, so that no more requests wait in vain. Later the
   * function may have recovered, and is asked first. A no is never served beyond its time.
   */
  #lastGood(key: string, error: unknown): K {
    const now = clock.now()
    const kept = this.#answers.get(key)
    if (kept === undefined || now >= kept.goodUntil) throw error
    kept.renewAt = now + REST * 1000
    const until = kept.renewAt + this.#rules.timeout * 1000
    kept.freshUntil = Math.max(kept.freshUntil, Math.min(until, kept.goodUntil))
    return kept.answer
  }
}
