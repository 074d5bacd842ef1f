import { types } from 'node:util'
import { errorCode, isThrown } from '../runtime/error.ts'

// Outside: other servers, which refuse, hang, or are not there at all. Their words never get into a
// log.

/** The reason why something from outside cannot be used, in constant words of ours. */
export class Unusable extends Error {}

/** The part of any error that may be logged: our own words, or that there are none. */
export function reasonOf(error: unknown): string {
  return isThrown(error, Unusable) ? error.message : 'the answer cannot be used'
}

/** An answer, or a member of it, that has another type than it should. */
export function unexpected(what: string, expected: string, found: unknown): Unusable {
  return new Unusable(`${what}: expected ${expected}, found ${typeName(found)}`)
}

export function readBoolean(answer: unknown): boolean {
  if (typeof answer === 'boolean') return answer
  throw unexpected('the answer', 'a boolean', answer)
}

function typeName(value: unknown): string {
  if (value === null) return 'null'
  if (types.isPromise(value)) return 'a promise'
  try {
    return Array.isArray(value) ? 'a list' : typeof value
  } catch {
    // A proxy that is revoked.
    return typeof value
  }
}

export class FetchFailure extends Unusable {
  /** The status of the answer, in place of 200. */
  readonly status: number | undefined

  constructor(message: string, status?: number) {
    super(message)
    this.status = status
  }
}

export function badStatus(status: number): FetchFailure {
  return new FetchFailure(`answered with status ${status}`, status)
}

export function noAnswer(error: unknown, signal: AbortSignal): FetchFailure {
  if (isThrown(error, FetchFailure)) return error
  return new FetchFailure(signal.aborted ? 'no answer in time' : `no answer (${errorCode(error)})`)
}
