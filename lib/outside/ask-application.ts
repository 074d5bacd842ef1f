// Outside: functions of the application. One may answer at once, later, too late or never; it may
// throw, or answer what is no answer.

import type { AuthError } from '../errors.ts'
import { errorCode } from './error-code.ts'
import { after, attempt, type NowOrLater } from './now-or-later.ts'
import { isThenable } from './thenable.ts'
import type { Waits } from './waits.ts'

/** How an answer is waited for, and judged. */
export interface AnswerRules<T> {
  /** Seconds. */
  readonly timeout: number
  /** What an answer stands for; undefined: it is none. */
  read(value: unknown): T | undefined
  /**
   * The error of a constant reason: it failed, is late, gave no usable answer, or is not waited
   * for.
   */
  refuse(reason: string): AuthError
}

export interface Question<T> extends AnswerRules<T> {
  ask(): unknown
  /** Those of the application, whose closing ends the wait for an answer. */
  readonly waits: Waits
}

/** Asks a function of the application once. An answer that is there at once costs no promise. */
export function askApplication<T>(question: Question<T>): NowOrLater<T> {
  const answer = attempt(
    () => asPromise(question.ask()),
    (value) => value,
    (error) => {
      throw question.refuse(`failed (${errorCode(error)})`)
    },
  )
  const inTime = answer instanceof Promise ? withinLimit(answer, question) : answer
  return after(inTime, (value) => {
    const read = question.read(value)
    if (read !== undefined) return read
    throw question.refuse('gave no usable answer')
  })
}

function asPromise(answer: unknown): unknown {
  return isThenable(answer) ? Promise.resolve(answer) : answer
}

async function withinLimit<T>(answer: Promise<unknown>, question: Question<T>): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined
  // Not unref'd, unlike every other timer here: a request waits for it.
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(question.refuse('is late')), question.timeout * 1000)
  })
  const ended = () => question.refuse('had not answered when the application closed')
  try {
    return await question.waits.for(Promise.race([answer, late]), ended)
  } finally {
    clearTimeout(timer)
  }
}
