import type { AuthError } from '../errors.ts'
import { errorCode } from './error-code.ts'
import { isThenable } from './thenable.ts'
import type { Waits } from './waits.ts'

export interface Question<T> {
  ask(): unknown
  /** Seconds. */
  readonly timeout: number
  /** Those of the application, whose closing ends the wait for an answer. */
  readonly waits: Waits
  isAnswer(value: unknown): value is T
  /** The error of a constant reason: it failed, is late, gave no usable answer, or is not waited for. */
  refuse(reason: string): AuthError
}

/**
 * Asks a function of the application, which may answer later, too late, throw, or say what is no answer.
 * An answer that is there at once costs no promise.
 */
export function askApplication<T>(question: Question<T>): T | Promise<T> {
  let answer: unknown
  try {
    answer = question.ask()
    if (isThenable(answer)) return whenAnswered(answer, question)
  } catch (error) {
    throw question.refuse(`failed (${errorCode(error)})`)
  }
  return checked(answer, question)
}

async function whenAnswered<T>(answer: PromiseLike<unknown>, question: Question<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  // Not unref'd, unlike every other timer here: a request waits for it.
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(question.refuse('is late')), question.timeout * 1000)
  })
  const failed = (error: unknown): never => {
    throw question.refuse(`failed (${errorCode(error)})`)
  }
  try {
    const inTime = Promise.race([Promise.resolve(answer).catch(failed), late])
    const ended = () => question.refuse('had not answered when the application closed')
    return checked(await question.waits.for(inTime, ended), question)
  } finally {
    clearTimeout(timer)
  }
}

function checked<T>(answer: unknown, question: Question<T>): T {
  if (question.isAnswer(answer)) return answer
  throw question.refuse('gave no usable answer')
}
