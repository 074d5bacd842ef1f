import type { AuthError } from '../../errors.ts'
import { Unusable } from '../http/failure.ts'
import { errorCode, isThrown } from '../runtime/error.ts'
import { after, attempt, isThenable, type MaybePromise } from '../runtime/maybe-promise.ts'
import type { PendingRequests } from './pending-requests.ts'

// Outside: functions of the application. One may answer at once, later, too late or never; it may
// throw, or answer what is no answer.

/** Why a function of the application gave no answer. */
export interface CallbackFailure {
  /** `unusable`: it has answered, but nothing that can be used. */
  readonly kind: 'thrown' | 'late' | 'unusable'
  /** In words that hold nothing of what was sent, but for names in the application's answer. */
  readonly reason: string
  /** Undefined where nothing was thrown. */
  readonly error?: unknown
}

/** Tells the operator. It never throws. */
export type ReportFailure = (failure: CallbackFailure) => void

/** What tells the operator of the failures of a function, by its name. */
export type ReportsOf = (name: string) => ReportFailure

/** How an answer is waited for, and judged. */
export interface AnswerRules<T> {
  /** Seconds. */
  readonly timeout: number
  /**
   * What an answer stands for; undefined: it is none.
   *
   * @throws Unusable, which names the member that cannot be used
   */
  read(value: unknown): T | undefined
  /**
   * The error of a constant reason: it failed, is late, gave no usable answer, or is not waited
   * for.
   */
  refuse(reason: string): AuthError
  /** Is told before the refusal. */
  readonly report?: ReportFailure | undefined
}

export interface Question<T> extends AnswerRules<T> {
  ask(): unknown
  /** Those of the application, whose closing ends the wait for an answer. */
  readonly waits: PendingRequests
}

const NO_ANSWER = 'gave no usable answer'

/** Asks a function of the application once. An answer that is there at once costs no promise. */
export function callWithTimeout<T>(question: Question<T>): MaybePromise<T> {
  const answer = attempt(
    () => asPromise(question.ask()),
    (value) => value,
    (error) => {
      const failure = thrown(error)
      question.report?.(failure)
      throw question.refuse(failure.reason)
    },
  )
  const inTime = answer instanceof Promise ? withinLimit(answer, question) : answer
  return after(inTime, (value) => readAnswer(value, question))
}

/** What a function of the application has thrown. */
export function thrown(error: unknown): CallbackFailure {
  return { kind: 'thrown', reason: `failed (${errorCode(error)})`, error }
}

/** What has made a question of `withinTime` fail, or the reading of its answer. */
export function failureOf(error: unknown): CallbackFailure {
  if (!isThrown(error, Unusable)) return thrown(error)
  return error.message === LATE ? { kind: 'late', reason: 'is late' } : unusable(error)
}

/** @param problem what reads the answer has thrown; Unusable names what cannot be used */
export function unusable(problem?: unknown): CallbackFailure {
  const kind = 'unusable'
  if (problem === undefined) return { kind, reason: NO_ANSWER }
  if (!isThrown(problem, Unusable)) return { kind, reason: NO_ANSWER, error: problem }
  return { kind, reason: `${NO_ANSWER}: ${problem.message}` }
}

function asPromise(answer: unknown): unknown {
  return isThenable(answer) ? Promise.resolve(answer) : answer
}

/** What reads the answer may run code of the application: a getter, or a proxy. */
function readAnswer<T>(value: unknown, { read, report, refuse }: Question<T>): T {
  let problem: unknown
  try {
    const answer = read(value)
    if (answer !== undefined) return answer
  } catch (error) {
    problem = error
  }
  report?.(unusable(problem))
  throw refuse(NO_ANSWER)
}

async function withinLimit<T>(answer: Promise<unknown>, question: Question<T>): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined
  // Not unref'd, unlike every other timer here: a request waits for it.
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      question.report?.({ kind: 'late', reason: 'is late' })
      reject(question.refuse('is late'))
    }, question.timeout * 1000)
  })
  const ended = () => question.refuse('had not answered when the application closed')
  try {
    return await question.waits.waitFor(Promise.race([answer, late]), ended)
  } finally {
    clearTimeout(timer)
  }
}

/** The message where the time is over. */
export const LATE = 'late'

/**
 * What a function answers within a time, unless a signal ends the wait. Its timer does not keep the
 * process alive.
 *
 * @throws Unusable, or what the function throws
 */
export async function withinTime<T>(
  ask: () => T | Promise<T>,
  milliseconds: number,
  signal?: AbortSignal,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Unusable(LATE)), milliseconds)
    timer.unref()
    signal?.addEventListener('abort', () => reject(new Unusable('ended')), { once: true })
  })
  try {
    return await Promise.race([(async () => ask())(), limit])
  } finally {
    clearTimeout(timer)
  }
}
