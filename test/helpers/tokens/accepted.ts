import { AuthError } from '../../../lib/errors.ts'
import { TokenRefused } from '../../../lib/identity/jwt/token-refused.ts'
import { after, type MaybePromise } from '../../../lib/platform/runtime/maybe-promise.ts'

/** What was given in the place of a refusal; a refusal is thrown. */
export function accepted<T extends object>(
  outcome: MaybePromise<T | AuthError | TokenRefused>,
): MaybePromise<T> {
  return after(outcome, (found) => {
    if (found instanceof AuthError || found instanceof TokenRefused) throw found
    return found
  })
}
