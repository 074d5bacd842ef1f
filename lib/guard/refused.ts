import type { AuthError } from '../errors.ts'
import type { Asked } from './asked.ts'

/** A decision that refused the request. */
export class Refused {
  readonly error: AuthError
  readonly asked: Asked

  constructor(error: AuthError, asked: Asked) {
    this.error = error
    this.asked = asked
  }
}
