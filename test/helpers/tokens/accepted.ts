import { AuthError } from '../../../lib/errors.ts'
import { after, type MaybePromise } from '../../../lib/platform/runtime/maybe-promise.ts'

/** The outcome; a refusal is thrown. */
export function accepted<T extends object>(outcome: MaybePromise<T | AuthError>): MaybePromise<T> {
  return after(outcome, (found) => {
    if (found instanceof AuthError) throw found
    return found
  })
}
