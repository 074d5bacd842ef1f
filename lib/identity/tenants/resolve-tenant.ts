import type { FastifyRequest } from 'fastify'
import { ERR_AUTH_TENANTS_UNAVAILABLE } from '../../errors.ts'
import {
  callWithTimeout,
  type ReportFailure,
  unusable,
} from '../../platform/callbacks/call-with-timeout.ts'
import type { PendingRequests } from '../../platform/callbacks/pending-requests.ts'
import { unexpected } from '../../platform/http/failure.ts'
import { withoutStack } from '../../platform/runtime/error.ts'
import type { MaybePromise } from '../../platform/runtime/maybe-promise.ts'

/** The user who asks, by the word of the verified token. */
export interface RequestUser {
  /** `iss` (RFC 7519 §4.1.1); null: the token has none, or in dev mode. */
  readonly issuer: string | null
  /** `sub` (RFC 7519 §4.1.2), before `mapClaims`; null: the token has none. */
  readonly sub: string | null
  /** The tenants that the user may act for. */
  readonly tenants: ReadonlySet<string>
}

/** @param user null: a guest, or the route is open */
export type ResolveTenant = (
  request: FastifyRequest,
  user: RequestUser | null,
) => string | null | Promise<string | null>

/** No tenant has it: what is neither a string nor null is refused like a wrong name. */
const NO_NAME = ''

/**
 * The answer of the application's own function, in place of the query: a string, or null for
 * absent.
 *
 * @throws ERR_AUTH_TENANTS_UNAVAILABLE if it fails, is late, or the application closes
 */
export function callResolveTenant(
  ask: () => unknown,
  timeout: number,
  waits: PendingRequests,
  report: ReportFailure,
): MaybePromise<string | null> {
  return callWithTimeout({
    ask,
    timeout,
    waits,
    report,
    read: (value) => {
      if (typeof value === 'string' || value === null) return value
      report(unusable(unexpected('the answer', 'a string or null', value)))
      return NO_NAME
    },
    refuse: (reason) =>
      withoutStack(() => new ERR_AUTH_TENANTS_UNAVAILABLE(1, `resolveTenant ${reason}`)),
  })
}
