import { clock } from '../runtime/clock.ts'
import { attempt, ignoreRejection, type MaybePromise } from '../runtime/maybe-promise.ts'
import { ownCopy } from '../runtime/own-property.ts'
import { AnswerCache, type AnswerTable, type CachedAnswer } from './answer-cache.ts'
import { type CallbackFailure, callWithTimeout } from './call-with-timeout.ts'
import type { CallbackRules } from './callback-rules.ts'
import { Line } from './line.ts'
import { PendingRequests } from './pending-requests.ts'

// Outside: functions of the application that are slow, fail, or are asked by many strangers at
// once.

/** Seconds that the last good answer serves after a failure, before the function is asked again. */
const REST = 1

/** The part of its time after which an answer that renews is asked for anew. */
const RENEW_AT = 0.8

/** The reason of a refusal: whoever asked is not waited for. */
const CLOSED = 'had not answered when the application closed'

/** A question that waits for its place, or for its answer. */
interface OpenQuestion<K> {
  readonly key: string
  /** What the function is asked. */
  readonly about: string
  /** Of the requests that want the answer. */
  readonly waits: Set<PendingRequests>
  /** Undefined as long as it is being put. */
  answer: Promise<K> | undefined
  /** A reading of `clock`; undefined: it waits for its place. */
  askedAt: number | undefined
  /** Whether the application has said since then that the answer may have changed. */
  isForgotten: boolean
  /** Whether the function has answered what is no answer. */
  isUnusable: boolean
}

/**
 * What a function of the application answers, by key. Requests that arrive together ask it once,
 * and an answer that is kept costs no promise.
 */
export class CachedCallback<A, K = A> {
  readonly #rules: CallbackRules<A, K>
  readonly #answers: AnswerTable<K>
  readonly #refusals: AnswerCache<K>
  /** The last one of each key, unless it is forgotten. */
  readonly #open = new Map<string, OpenQuestion<K>>()
  readonly #line: Line
  /** That of known keys, where they have their own. */
  readonly #lineOfKnown: Line
  /** Of the questions, which the requests of several applications may share. */
  readonly #waits = new PendingRequests()

  constructor(rules: CallbackRules<A, K>) {
    const own = ownCopy(rules)
    const { line = { places: Number.POSITIVE_INFINITY }, timeout, weight } = own
    this.#rules = own
    this.#line = new Line(line, timeout)
    this.#lineOfKnown = own.isKnown === undefined ? this.#line : new Line(line, timeout)
    this.#answers = own.table ?? new AnswerCache(own.maxKept, (kept) => own.drop?.(kept), weight)
    this.#refusals = new AnswerCache(own.refusals?.maxKept ?? 0, () => {}, weight)
  }

  open(): void {
    this.#waits.resume()
  }

  /** Ends the questions that are open. Those that wait for a place are never asked. */
  close(): void {
    this.#line.end(CLOSED)
    this.#lineOfKnown.end(CLOSED)
    this.#waits.end()
  }

  /**
   * The answer for a key; a promise only where it has to be asked for, and then one of `waits`.
   *
   * @param about what the function is asked, where that is not the key
   * @throws what the rules refuse with, where no answer can be had
   */
  get(key: string, waits: PendingRequests, about = key): MaybePromise<K> {
    const kept = this.#serving(key)
    if (kept !== undefined) return kept.answer
    return waits.waitFor(this.#joined(key, waits) ?? this.#ask(key, waits, about), () =>
      this.#rules.refuse(CLOSED),
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
    for (const [key, question] of this.#open) {
      // What waits for its place is asked after this.
      if (question.askedAt === undefined || !fits(key)) continue
      question.isForgotten = true
      this.#open.delete(key)
    }
  }

  /** What is kept, but what says no. */
  values(): K[] {
    return this.#answers.values()
  }

  #find(key: string): CachedAnswer<K> | undefined {
    return this.#answers.get(key) ?? this.#refusals.get(key)
  }

  /** An answer that comes at once where one is renewed counts at once: it may say less. */
  #serving(key: string): CachedAnswer<K> | undefined {
    const now = clock.now()
    const kept = this.#find(key)
    if (kept === undefined || now >= kept.freshUntil) return undefined
    if (now < kept.renewAt || this.#open.has(key)) return kept
    this.#renew(key)
    const renewed = this.#find(key)
    return renewed !== undefined && now < renewed.freshUntil ? renewed : undefined
  }

  /** Where this fails, whoever asks next is told. */
  #renew(key: string): void {
    try {
      ignoreRejection(this.#ask(key, this.#waits))
    } catch {
      // The function answered at once, with what is no answer.
    }
  }

  /** The answer of a question that is open already. */
  #joined(key: string, waits: PendingRequests): Promise<K> | undefined {
    const question = this.#open.get(key)
    question?.waits.add(waits)
    return question?.answer
  }

  #ask(key: string, waits: PendingRequests, about = key): MaybePromise<K> {
    const question: OpenQuestion<K> = {
      key,
      about,
      waits: new Set([waits]),
      answer: undefined,
      askedAt: undefined,
      isForgotten: false,
      isUnusable: false,
    }
    this.#open.set(key, question)
    const answer = attempt(
      () => this.#lineFor(key).enter(this.#visitOf(question)),
      (given) => {
        this.#end(question)
        return this.#learn(given, question)
      },
      (error) => {
        this.#end(question)
        return this.#failed(error, question)
      },
    )
    if (answer instanceof Promise) question.answer = answer
    return answer
  }

  #lineFor(key: string): Line {
    return this.#rules.isKnown?.(key) === true ? this.#lineOfKnown : this.#line
  }

  #visitOf(question: OpenQuestion<K>) {
    const { timeout, refuse, ask, read, report } = this.#rules
    return {
      key: question.key,
      refuse,
      isWanted: () => [...question.waits].some(({ isOver }) => !isOver),
      run: () => {
        question.askedAt = clock.now()
        return callWithTimeout<A>({
          timeout,
          refuse,
          ask: () => ask(question.about),
          read: (value) => read(value, question.key),
          report: (failure: CallbackFailure) => {
            question.isUnusable = failure.kind === 'unusable'
            report?.(failure)
          },
          waits: this.#waits,
        })
      },
    }
  }

  #end(question: OpenQuestion<K>): void {
    if (this.#open.get(question.key) === question) this.#open.delete(question.key)
  }

  #learn(answer: A, { key, askedAt = clock.now(), isForgotten }: OpenQuestion<K>): K {
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
    if (isRefusal || keptFor <= 0) this.#drop(key)
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

  #failed(error: unknown, { key, isForgotten, isUnusable }: OpenQuestion<K>): K {
    // To throw, and to be late, is an outage. A wrong answer is none: what it should have said may
    // be less than before.
    const isOver = isUnusable && !isForgotten
    this.#rules.failed?.(error, key, this.#answers.get(key)?.answer, isOver)
    if (isOver) this.#drop(key)
    return this.#lastGood(key, error)
  }

  /** What is kept for a key serves no more, and for nobody. */
  #drop(key: string): void {
    const before = this.#answers.get(key)?.answer
    this.#answers.delete(key)
    if (before !== undefined) this.#rules.drop?.(before)
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
