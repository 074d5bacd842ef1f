import assert from 'node:assert/strict'
import type { FastifyRequest } from 'fastify'
import { composeAuthenticator } from '../../../lib/compose.ts'
import { loadSettings } from '../../../lib/config/load-settings.ts'
import { AuthError } from '../../../lib/errors.ts'
import type {
  Authenticator,
  AuthTrace,
} from '../../../lib/identity/authentication/authenticator.ts'
import type { Principal } from '../../../lib/identity/authorization/principal.ts'
import type { AuthOptions } from '../../../lib/index.ts'
import { OperatorLog } from '../../../lib/operator-log.ts'
import { PendingRequests } from '../../../lib/platform/callbacks/pending-requests.ts'
import { after, type MaybePromise } from '../../../lib/platform/runtime/maybe-promise.ts'

export const SILENT = new OperatorLog(() => undefined)

class LogWithoutFailures extends OperatorLog {
  override document() {
    return { onChange() {}, onFailure: () => assert.fail('no fetch fails') }
  }
}

/** An authenticator without an application. */
export function standaloneAuthenticator(
  options: AuthOptions,
  log: OperatorLog = new LogWithoutFailures(() => undefined),
): Authenticator {
  return composeAuthenticator(loadSettings(options), log)
}

export function authenticate(
  authenticator: Authenticator,
  request: FastifyRequest,
): MaybePromise<Principal | AuthError> {
  const trace: AuthTrace = {
    token: null,
    cached: null,
    verified: null,
    possession: null,
    mustBeBound: false,
  }
  return authenticator.authenticate(request, new PendingRequests(), trace)
}

/** The principal of a request with that `authorization`; a refusal is thrown. */
export function principalOf(
  authenticator: Authenticator,
  authorization: string,
): MaybePromise<Principal> {
  return accepted(authenticate(authenticator, bearerRequest(authorization)))
}

/**
 * The part of a request that an authenticator reads. Its header is one piece of memory, as Node
 * gives it.
 */
export function bearerRequest(header: string, lines: readonly string[] = []): FastifyRequest {
  const authorization = Buffer.from(header, 'latin1').toString('latin1')
  const rawHeaders = ['Host', 'a.test', 'Authorization', authorization, ...lines]
  return Object.assign(Object.create(null), { headers: { authorization }, raw: { rawHeaders } })
}

/** The outcome; a refusal is thrown. */
export function accepted<T extends object>(outcome: MaybePromise<T | AuthError>): MaybePromise<T> {
  return after(outcome, (found) => {
    if (found instanceof AuthError) throw found
    return found
  })
}
