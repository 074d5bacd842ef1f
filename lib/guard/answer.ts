import type { FastifyBaseLogger, FastifyReply, FastifyRequest, onErrorHookHandler } from 'fastify'
import { AuthError, ERR_AUTH_TOKEN_INVALID, type Mismatch } from '../errors.ts'
import { isThrown } from '../outside/error-code.ts'
import { askedTenant } from './asked-tenant.ts'
import { namesTenant } from './bound-log.ts'
import type { SpellChallenge } from './challenge.ts'
import { askedOf } from './decision.ts'

/**
 * What the answer to a refusal carries beside its body, and its line in the log. It is set in
 * `onError`, not where the error is thrown. So an error handler of the application cannot forget
 * it, and an error that a handler catches leaves no trace.
 */
export function answerIn(spell: SpellChallenge): onErrorHookHandler {
  return function tenantAuthAnswer(request, reply, error, done) {
    if (isThrown(error, AuthError)) {
      writeHeaders(reply, error, spell(request, error))
      log(request, error)
      if (isUpgraded(request)) endAfterAnswer(request, reply)
    }
    done()
  }
}

function writeHeaders(reply: FastifyReply, error: AuthError, challenge: string | null): void {
  const { retryAfter } = error
  reply.header('cache-control', 'no-store')
  if (challenge !== null) reply.header('www-authenticate', challenge)
  // RFC 9110 §10.2.3: whole seconds.
  if (retryAfter !== null) reply.header('retry-after', Math.max(1, Math.ceil(retryAfter)))
}

/**
 * One line for each refusal. It names no user by itself. An application that wants the user has
 * `logBindings` and `refusalOf`.
 */
function log(request: FastifyRequest, error: AuthError): void {
  const { code, reason, statusCode, challenge } = error
  const asked = askedOf(request)
  const isNamed = asked === null || namesTenant(asked)
  const line = {
    code,
    reason,
    method: request.method,
    route: request.routeOptions.url,
    tenant: isNamed ? undefined : (askedTenant(asked) ?? undefined),
    required: challenge?.scope,
    mismatch: mismatchOf(request.log, error),
  }
  request.log[statusCode < 500 ? 'info' : 'warn'](line, 'request refused')
}

/** The value of a claim may be personal, so it is shown at the debug level only. */
function mismatchOf(log: Log, error: AuthError): Mismatch | undefined {
  if (!(error instanceof ERR_AUTH_TOKEN_INVALID)) return undefined
  const isDebugging = log.isLevelEnabled?.('debug') ?? ['debug', 'trace'].includes(log.level)
  return isDebugging ? error.mismatch : undefined
}

/** Pino's method. Another logger of the application need not have it. */
type Log = FastifyBaseLogger & { isLevelEnabled?(level: string): boolean }

/**
 * Whether Node's server has let go of the socket. It does so only if something listens for
 * upgrades.
 */
function isUpgraded({ raw }: FastifyRequest): boolean {
  return 'upgrade' in raw && raw.upgrade === true
}

/** After a refused upgrade, no server reads from the socket any more. */
function endAfterAnswer(request: FastifyRequest, reply: FastifyReply): void {
  const { socket } = request.raw
  reply.header('connection', 'close')
  reply.raw.once('finish', () => socket.end())
}
