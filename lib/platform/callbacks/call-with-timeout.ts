import { Unusable } from '../http/failure.ts'
import { errorCode, isThrown } from '../runtime/error.ts'
import { ignoreRejection, isThenable, type MaybePromise } from '../runtime/maybe-promise.ts'
import type { PendingRequests } from './pending-requests.ts'

// Outside: functions of the application. One may answer at once, later, too late or never; it may
// throw, or return something that is no answer.

/** The failure of a function of the application, which gave no answer. */
export interface CallbackFailure {
  /** `unusable`: it has answered, but nothing that can be used. */
  readonly kind: 'thrown' | 'late' | 'unusable'
  /** In words that hold nothing of what was sent, but for names in the application's answer. */
  readonly reason: string
  /** Undefined if nothing was thrown. */
  readonly error?: unknown
}

/** Logs a failure. It never throws. */
export type ReportFailure = (failure: CallbackFailure) => void

export interface AnswerRules<T> {
  /** Seconds. */
  readonly timeout: number
  /**
   * The meaning of an answer; undefined: it has none.
   *
   * @throws Unusable, which names the member that cannot be used
   */
  read(value: unknown): T | undefined
  /**
   * The error of a constant reason: it failed, is late, gave no usable answer, or is not waited
   * for.
   */
  refuse(reason: string): Error
  /** Called before the refusal. */
  readonly report?: ReportFailure | undefined
}

interface Question<T> extends AnswerRules<T> {
  ask(): unknown
  /** The waits of the application, whose closing ends the wait for an answer. */
  readonly waits: PendingRequests
}

/** The reason of a refusal: whoever asked is not waited for. */
export const CLOSED = 'had not answered when the application closed'

const NO_ANSWER = 'gave no usable answer'

/** A function that has not answered in time. */
export const LATE: CallbackFailure = { kind: 'late', reason: 'is late' }

/** Calls a function of the application once. An answer that is there at once costs no promise. */
export function callWithTimeout<T>(question: Question<T>): MaybePromise<T> {
  let answer: unknown
  let pending: Promise<unknown> | undefined
  try {
    answer = question.ask()
    // A promise of our own: that of the application may have a `then` that throws.
    if (isThenable(answer)) pending = new Promise((resolve) => resolve(answer))
  } catch (error) {
    throw failed(thrown(error), question)
  }
  if (pending === undefined) return readAnswer(answer, question)
  const given = pending.catch((error: unknown) => {
    throw failed(thrown(error), question)
  })
  return withinLimit(given, question).then((value) => readAnswer(value, question))
}

/** The failure of a function that has thrown. */
export function thrown(error: unknown): CallbackFailure {
  return { kind: 'thrown', reason: `failed (${errorCode(error)})`, error }
}

/** @param problem thrown while the answer was read; Unusable names the member at fault */
export function unusable(problem?: unknown): CallbackFailure {
  const kind = 'unusable'
  if (problem === undefined) return { kind, reason: NO_ANSWER }
  if (!isThrown(problem, Unusable)) return { kind, reason: NO_ANSWER, error: problem }
  return { kind, reason: `${NO_ANSWER}: ${problem.message}` }
}

/** For an answer that is needed at once: a promise is none, and may say why when it rejects. */
export function reportRejection(answer: unknown, report: ReportFailure | undefined): void {
  ignoreRejection(answer, (error) => report?.(thrown(error)))
}

/** Reading the answer may run code of the application: a getter, or a proxy. */
function readAnswer<T>(value: unknown, question: Question<T>): T {
  let problem: unknown
  try {
    const answer = question.read(value)
    if (answer !== undefined) return answer
  } catch (error) {
    problem = error
  }
  throw failed(unusable(problem), question, NO_ANSWER)
}

function withinLimit<T>(answer: Promise<unknown>, question: Question<T>): Promise<unknown> {
  return question.waits.waitWithin(answer, {
    milliseconds: question.timeout * 1000,
    late: () => failed(LATE, question),
    ended: () => question.refuse(CLOSED),
    // Unlike all other timers here: a request waits for it.
    keepsAlive: true,
  })
}

/** Reports a failure. Returns its refusal, whose reason is constant. */
function failed<T>(
  failure: CallbackFailure,
  { report, refuse }: Question<T>,
  reason = failure.reason,
): Error {
  report?.(failure)
  return refuse(reason)
}
