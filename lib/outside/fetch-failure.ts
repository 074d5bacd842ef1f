// Outside: other servers, which refuse, hang, or are not there at all.

import { errorCode, isThrown } from './error-code.ts'
import { Unusable } from './unusable.ts'

/** Why a document could not be had. */
export class FetchFailure extends Unusable {
  /** What was answered in place of 200. */
  readonly status: number | undefined

  constructor(message: string, status?: number) {
    super(message)
    this.status = status
  }
}

/** An answer came, and is none that brings a document. */
export function badStatus(status: number): FetchFailure {
  return new FetchFailure(`answered with status ${status}`, status)
}

/** No answer came: the request ended with this error. */
export function noAnswer(error: unknown, signal: AbortSignal): FetchFailure {
  if (isThrown(error, FetchFailure)) return error
  return new FetchFailure(signal.aborted ? 'no answer in time' : `no answer (${errorCode(error)})`)
}
