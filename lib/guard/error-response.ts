import type { FastifyBaseLogger, FastifyReply, FastifyRequest, onErrorHookHandler } from 'fastify'
import { showPath } from '../config/redact.ts'
import { AuthError, type Challenge, ERR_AUTH_TOKEN_INVALID, type Mismatch } from '../errors.ts'
import { isThrown } from '../platform/runtime/error.ts'
import { logLine } from '../platform/runtime/log-line.ts'
import { type ChallengeRules, challengesOf } from './challenge.ts'
import { type AuthContext, authContextOf } from './context.ts'
import { requestedTenant } from './decide.ts'
import { namesTenant } from './log-bindings.ts'

export interface ResponseRules extends ChallengeRules {
  /** The INI file, which a hint in the log names. */
  readonly configFile?: string | undefined
}

/**
 * Adds the headers to the response of a refusal, and logs it. It runs in `onError`, not where the
 * error is thrown. So an error handler of the application cannot omit it, and an error that a
 * handler catches leaves no trace.
 */
export function errorResponse(rules: ResponseRules): onErrorHookHandler {
  const challengeOf = challengesOf(rules)
  const hints = { text: hintOf(rules.configFile), hinted: new Set<string>() }
  return function tenantAuthAnswer(request, reply, error, done) {
    if (isThrown(error, AuthError)) {
      // Read once, since they are getters; a handler may have written anything over them.
      const { challenge, reason, retryAfter, statusCode } = error
      reply.header('cache-control', 'no-store')
      const challenges = challengeOf(request, { challenge: challenge ?? null, statusCode })
      if (challenges !== null) reply.header('www-authenticate', challenges)
      // RFC 9110 §10.2.3: whole seconds.
      if (typeof retryAfter === 'number') {
        reply.header('retry-after', Math.max(1, Math.ceil(retryAfter) || 1))
      }
      // After a request for an upgrade, Node's server leaves the socket to whoever listens for them.
      if ('upgrade' in request.raw && request.raw.upgrade === true) endAfterAnswer(request, reply)
      log(request, authContextOf(request), error, { reason, required: challenge?.scope }, hints)
    }
    done()
  }
}

/**
 * One line for each refusal. It names no user by itself. An application that wants the user has
 * `logBindings` and `refusalOf`.
 */
function log(
  request: FastifyRequest,
  context: AuthContext | null | undefined,
  error: AuthError,
  { reason, required }: { readonly reason: string; readonly required: Challenge['scope'] },
  hints: Hints,
): void {
  const { code, statusCode } = error
  const line = {
    code,
    reason,
    method: request.method,
    route: request.routeOptions.url,
    tenant: tenantFor(context),
    place: statusCode === 400 ? placeFor(context, error) : undefined,
    required,
    mismatch: statusCode === 401 ? mismatchOf(request.log, error) : undefined,
    hint: statusCode === 401 ? hintFor(request.log, error, hints) : undefined,
  }
  logLine(request.log, statusCode < 500 ? 'info' : 'warn', 'request refused', line)
}

function tenantFor(context: AuthContext | null | undefined): string | undefined {
  if (!context || namesTenant(context)) return undefined
  return requestedTenant(context) ?? undefined
}

function placeFor(context: AuthContext | null | undefined, error: AuthError): string | undefined {
  if (context?.error !== error) return undefined
  const { policy, rules } = context
  if (policy.tenant === 'path') return `path segment :${rules.tenantParameter}`
  return rules.resolveTenant === undefined ? `query ?${rules.tenantQuery}=` : 'resolveTenant'
}

interface Hints {
  readonly text: string
  /** The reasons that have had it. */
  readonly hinted: Set<string>
}

function hintOf(configFile: string | undefined): string {
  const given = configFile ? showPath(configFile) : '--issuer ISSUER --audience AUDIENCE'
  return `npx fastify-tenant-auth doctor ${given} --token - says why; at level debug this line has what was expected and found`
}

/** Reasons that depend on more than the token and the configuration. */
const UNSEEN_BY_DOCTOR =
  /^(?:revoked|outlives|mapClaims|tokenFrom|opaqueToken|resourcesOf|DPoP proof|not bound|bound to|an unbound|several|the header (?:is malformed|names)|dev mode|the guard)/

/** Most reasons in one application that have a hint. A handler may give its errors any. */
const MAX_HINTS = 100

/** Where to look further, once for each reason why a token is refused. */
function hintFor(log: Log, error: AuthError, { text, hinted }: Hints): string | undefined {
  if (!(error instanceof ERR_AUTH_TOKEN_INVALID) || isDebugging(log)) return undefined
  const { reason } = error
  if (hinted.has(reason) || hinted.size >= MAX_HINTS) return undefined
  hinted.add(reason)
  return UNSEEN_BY_DOCTOR.test(reason) ? undefined : text
}

/** The value of a claim may be personal, so it is shown at the debug level only. */
export function mismatchOf(log: Log, error: AuthError): Mismatch | undefined {
  return error instanceof ERR_AUTH_TOKEN_INVALID && isDebugging(log) ? error.mismatch : undefined
}

function isDebugging(log: Log): boolean {
  return log.isLevelEnabled?.('debug') ?? ['debug', 'trace'].includes(log.level)
}

/** Pino's method. Another logger of the application need not have it. */
type Log = FastifyBaseLogger & { isLevelEnabled?(level: string): boolean }

/** After a refused upgrade, no server reads from the socket any more. */
function endAfterAnswer(request: FastifyRequest, reply: FastifyReply): void {
  const { socket } = request.raw
  reply.header('connection', 'close')
  reply.raw.once('finish', () => socket.end())
}
