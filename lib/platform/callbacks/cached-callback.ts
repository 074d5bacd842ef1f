import { clock } from '../runtime/clock.ts'
import { withoutStack } from '../runtime/error.ts'
import { attempt, ignoreRejection, type MaybePromise } from '../runtime/maybe-promise.ts'
import { ownCopy } from '../runtime/own-property.ts'
import { AnswerCache, type AnswerTable, type CachedAnswer } from './answer-cache.ts'
import { CLOSED, callWithTimeout } from './call-with-timeout.ts'
import type { CallbackRules } from './callback-rules.ts'
import { Line } from './line.ts'
import { PendingRequests } from './pending-requests.ts'

// Outside: functions of the application that are slow, fail, or are asked by many strangers at
// once.

/** Seconds that the last good answer serves after a failure, before the function is asked again. */
const REST = 1

/** The part of its time after which an answer that renews is asked for anew. */
const RENEW_AT = 0.8

/**
 * A question has no answer, for a constant reason. Requests that wait for it together get an error
 * each, which hooks of the application may write into.
 */
class NoAnswer extends Error {}

/** A question that waits for its place, or for its answer. */
interface OpenQuestion<K> {
  readonly key: string
  readonly about: string
  /** The waits of the requests that want the answer. */
  readonly waits: Set<PendingRequests>
  /** Undefined as long as it is being asked. */
  answer: Promise<K> | undefined
  /** A reading of `clock`; undefined: it waits for its place. */
  askedAt: number | undefined
  /** The application has said since then that the answer may have changed. */
  isForgotten: boolean
  isUnusable: boolean
}

/**
 * The answers of a function of the application, by key. Requests that arrive together ask it once,
 * and an answer in the cache costs no promise.
 */
export class CachedCallback<A, K = A> {
  readonly #rules: CallbackRules<A, K>
  readonly #answers: AnswerTable<K>
  readonly #refusals: AnswerCache<K>
  /** The last question of each key, unless it is forgotten. */
  readonly #open = new Map<string, OpenQuestion<K>>()
  readonly #line: Line
  /** The same line, unless known keys have their own. */
  readonly #lineOfKnown: Line
  /** The waits of the questions, which the requests of several applications may share. */
  readonly #waits = new PendingRequests()

  constructor(rules: CallbackRules<A, K>) {
    const own = ownCopy(rules)
    const { line = { places: Number.POSITIVE_INFINITY }, timeout, weight, maxKept = 0 } = own
    this.#rules = own
    this.#line = new Line(line, timeout)
    this.#lineOfKnown =
      own.known === undefined ? this.#line : new Line({ ...line, ...own.known }, timeout)
    this.#answers = own.table ?? new AnswerCache(maxKept, (value) => own.onDropped?.(value), weight)
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
   * The answer for a key; a promise only if it has to be asked for, and then one of `waits`.
   *
   * @param about the argument of the function, if that is not the key
   * @throws the refusal of the rules, if no answer can be had
   */
  get(key: string, waits: PendingRequests, about = key): MaybePromise<K> {
    const cached = this.#serving(key)
    if (cached !== undefined) return cached.answer
    return this.getAnew(key, waits, about)
  }

  /**
   * `get()` by a question that is open, or put now. If it fails while the cached answer is fresh
   * still, that one is given. Not for answers that renew.
   */
  getAnew(key: string, waits: PendingRequests, about = key): MaybePromise<K> {
    const question = this.#open.get(key)
    question?.waits.add(waits)
    const answer = attempt(
      () => question?.answer ?? this.#ask(key, waits, about),
      (value) => value,
      (error) => {
        throw this.#refusalOf(error)
      },
    )
    return waits.waitFor(answer, () => this.#rules.refuse(CLOSED))
  }

  #refusalOf(error: unknown): unknown {
    return error instanceof NoAnswer ? this.#rules.refuse(error.message) : error
  }

  /** The cached answer for a key that serves now; undefined: it has to be asked for. */
  fresh(key: string): K | undefined {
    return this.#serving(key)?.answer
  }

  /**
   * Drops the cached answers for the keys that fit. Answers that are under way serve those who have
   * asked, and are not cached.
   */
  forget(fits: (key: string) => boolean = () => true): void {
    this.#answers.expire(fits)
    this.#refusals.expire(fits)
    for (const [key, question] of this.#open) {
      // A question that waits for its place is asked after this.
      if (question.askedAt === undefined || !fits(key)) continue
      question.isForgotten = true
      this.#open.delete(key)
    }
  }

  /** All cached answers, but those that say no. */
  values(): K[] {
    return this.#answers.values()
  }

  #find(key: string): CachedAnswer<K> | undefined {
    return this.#answers.get(key) ?? this.#refusals.get(key)
  }

  /** An answer that comes at once while one is renewed counts at once: it may say less. */
  #serving(key: string): CachedAnswer<K> | undefined {
    const now = clock.now()
    const cached = this.#find(key)
    if (cached === undefined || now >= cached.freshUntil) return undefined
    if (now < cached.renewAt || this.#open.has(key)) return cached
    this.#renew(key)
    const renewed = this.#find(key)
    return renewed !== undefined && now < renewed.freshUntil ? renewed : undefined
  }

  /** A failure is seen by whoever asks next. */
  #renew(key: string): void {
    try {
      ignoreRejection(this.#ask(key, this.#waits))
    } catch {
      // The function answered at once, with what is no answer.
    }
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
    const end = () => {
      if (this.#open.get(key) === question) this.#open.delete(key)
    }
    this.#open.set(key, question)
    const line = this.#rules.known?.has(key) === true ? this.#lineOfKnown : this.#line
    const answer = attempt(
      () => line.enter(this.#visitOf(question)),
      (given) => {
        end()
        return this.#succeeded(given, question)
      },
      (error) => {
        end()
        return this.#failed(error, question)
      },
    )
    if (answer instanceof Promise) question.answer = answer
    return answer
  }

  #visitOf(question: OpenQuestion<K>) {
    const { timeout, ask, read, report } = this.#rules
    const refuse = (reason: string) => withoutStack(() => new NoAnswer(reason))
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
          report: (failure) => {
            question.isUnusable = failure.kind === 'unusable'
            report?.(failure)
          },
          waits: this.#waits,
        })
      },
    }
  }

  #succeeded(answer: A, { key, askedAt = clock.now(), isForgotten }: OpenQuestion<K>): K {
    // The question came before `forget()`: the answer may be what was forgotten.
    if (isForgotten) {
      const forgotten = this.#rules.toValue(answer, key, undefined, askedAt)
      this.#rules.onDropped?.(forgotten)
      return forgotten
    }
    const before = this.#answers.get(key)?.answer
    const value = this.#rules.toValue(answer, key, before, askedAt)
    this.#store(value, key, askedAt)
    this.#rules.onCached?.(value, key)
    return value
  }

  #store(value: K, key: string, askedAt: number): void {
    const isRefusal = this.#rules.refusals?.is(value) ?? false
    const keptFor = this.#rules.keptFor(value) * 1000
    if (isRefusal || keptFor <= 0) this.#drop(key)
    if (keptFor <= 0) return
    if (isRefusal) this.#refusals.set(key, this.#cached(value, clock.now(), keptFor))
    // A slow answer does not say what has changed since it was asked for.
    else this.#answers.set(key, this.#cached(value, askedAt, keptFor, this.#rules.renews))
  }

  #cached(answer: K, since: number, keptFor: number, renews = false): CachedAnswer<K> {
    const freshUntil = since + keptFor
    return {
      answer,
      renewAt: renews ? since + keptFor * RENEW_AT : Number.POSITIVE_INFINITY,
      freshUntil,
      goodUntil: freshUntil + (this.#rules.maxStale ?? 0) * 1000,
    }
  }

  #failed(error: unknown, { key, isForgotten, isUnusable }: OpenQuestion<K>): K {
    // To throw, and to be late, is an outage. A wrong answer is none: the right one may have said
    // less than before.
    const before = this.#answers.get(key)
    if (before !== undefined && !isForgotten && isStillFresh(before)) return before.answer
    const isOver = isUnusable && !isForgotten
    this.#rules.onFailed?.(this.#refusalOf(error), key, before?.answer, isOver)
    if (isOver) this.#drop(key)
    return this.#lastGood(key, error)
  }

  /** Drops the cached answer for a key. */
  #drop(key: string): void {
    const before = this.#answers.get(key)?.answer
    this.#answers.delete(key)
    if (before !== undefined) this.#rules.onDropped?.(before)
  }

  /**
   * Serves up to the end of the next question, so that no more requests wait in vain. Later the
   * function may have recovered, and is asked first. A no is never served beyond its time.
   */
  #lastGood(key: string, error: unknown): K {
    const now = clock.now()
    const cached = this.#answers.get(key)
    if (cached === undefined || now >= cached.goodUntil) throw error
    cached.renewAt = now + REST * 1000
    const until = cached.renewAt + this.#rules.timeout * 1000
    cached.freshUntil = Math.max(cached.freshUntil, Math.min(until, cached.goodUntil))
    return cached.answer
  }
}

/** True: it was renewed before its time was over, for somebody who can do without. */
function isStillFresh({ freshUntil, renewAt }: CachedAnswer<unknown>): boolean {
  return clock.now() < freshUntil && renewAt === Number.POSITIVE_INFINITY
}
