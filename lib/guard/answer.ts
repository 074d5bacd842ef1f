import type { FastifyBaseLogger, FastifyReply, FastifyRequest, onErrorHookHandler } from 'fastify'
import { AuthError, type Challenge, ERR_AUTH_TOKEN_INVALID, type Mismatch } from '../errors.ts'
import { isResourceId } from '../rights/resource-id.ts'
import { refusalOf } from './refusal.ts'
import { authorizationOf } from './request-access.ts'

/**
 * What the answer to a refusal carries beside its body, and its line in the log. Added in
 * `onError`, not by the thrower: an error handler of the application cannot forget it, and an error
 * that a handler catches leaves no trace.
 */
export function answerIn(realm: string): onErrorHookHandler {
  // The realm is a quoted-string (RFC 9110 §5.6.4).
  const scheme = `Bearer realm="${realm.replaceAll(/["\\]/g, '\\$&')}"`
  return function tenantAuthAnswer(request, reply, error, done) {
    if (error instanceof AuthError) {
      writeHeaders(reply, error, scheme)
      log(request, error)
      if (isUpgraded(request)) endAfterAnswer(request, reply)
    }
    done()
  }
}

function writeHeaders(reply: FastifyReply, error: AuthError, scheme: string): void {
  const { challenge, retryAfter } = error
  reply.header('cache-control', 'no-store')
  if (challenge !== null) reply.header('www-authenticate', spell(scheme, challenge))
  // RFC 9110 §10.2.3: whole seconds.
  if (retryAfter !== null) reply.header('retry-after', Math.max(1, Math.ceil(retryAfter)))
}

/** RFC 6750 §3: the scheme with its realm, and what is wrong. */
function spell(scheme: string, { error, scope = [] }: Challenge): string {
  if (error === undefined) return scheme
  // An id that a handler requires may be any text, and must not break the header.
  const ids = scope.filter(isResourceId)
  const required = ids.length === 0 ? '' : `, scope="${ids.join(' ')}"`
  return `${scheme}, error="${error}"${required}`
}

/**
 * One line for each refusal. It names no user: `refusalOf` does, for an application that wants to.
 */
function log(request: FastifyRequest, error: AuthError): void {
  const { code, reason, statusCode, challenge } = error
  const { tenant } = refusalOf(request) ?? authorizationOf(request) ?? {}
  const line = {
    code,
    reason,
    method: request.method,
    route: request.routeOptions.url,
    tenant: tenant ?? undefined,
    required: challenge?.scope,
    mismatch: mismatchOf(request.log, error),
  }
  request.log[statusCode < 500 ? 'info' : 'warn'](line, 'request refused')
}

/** What a token said may be personal, so it is for the debug level only. */
function mismatchOf(log: Log, error: AuthError): Mismatch | undefined {
  if (!(error instanceof ERR_AUTH_TOKEN_INVALID)) return undefined
  const isDebugging = log.isLevelEnabled?.('debug') ?? ['debug', 'trace'].includes(log.level)
  return isDebugging ? error.mismatch : undefined
}

/** Pino's; a logger of the application's own need not have the method. */
type Log = FastifyBaseLogger & { isLevelEnabled?(level: string): boolean }

/**
 * Whether Node's server has let go of the socket. It does so only where somebody listens for
 * upgrades.
 */
function isUpgraded({ raw }: FastifyRequest): boolean {
  return 'upgrade' in raw && raw.upgrade === true
}

/** A refused upgrade leaves a socket that no server reads from any more. */
function endAfterAnswer(request: FastifyRequest, reply: FastifyReply): void {
  const { socket } = request.raw
  reply.header('connection', 'close')
  reply.raw.once('finish', () => socket.end())
}
