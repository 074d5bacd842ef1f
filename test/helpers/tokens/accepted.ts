import { AuthError } from '../../../lib/errors.ts'
import { after, type NowOrLater } from '../../../lib/outside/now-or-later.ts'
import type { Principal } from '../../../lib/rights/principal.ts'

/** The principal that an authenticator gave; its refusal is thrown. */
export function accepted(outcome: NowOrLater<Principal | AuthError>): NowOrLater<Principal> {
  return after(outcome, (found) => {
    if (found instanceof AuthError) throw found
    return found
  })
}
