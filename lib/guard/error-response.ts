import type { FastifyBaseLogger, FastifyReply, FastifyRequest, onErrorHookHandler } from 'fastify'
import { showPath } from '../config/redact.ts'
import {
  AuthError,
  type Challenge,
  ERR_AUTH_TOKEN_INVALID,
  type Mismatch,
  type StepUp,
} from '../errors.ts'
import { isResourceId } from '../identity/authorization/resources.ts'
import { isAcr, isMaxAge } from '../identity/authorization/step-up.ts'
import { proofAlgorithms } from '../identity/jwks/algorithms.ts'
import { countsAsDpop } from '../identity/proofs/possession.ts'
import type { SenderProofs } from '../identity/proofs/sender-proofs.ts'
import { metadataAddress, TenantAddresses } from '../identity/tenants/tenant-addresses.ts'
import { isThrown } from '../platform/runtime/error.ts'
import { logLine } from '../platform/runtime/log-line.ts'
import { ownCopy } from '../platform/runtime/own-property.ts'
import { type AuthContext, authContextOf } from './context.ts'
import { requestedTenant } from './decide.ts'
import { hasBoundTenant } from './decision-events.ts'

export interface ResponseRules {
  readonly realm: string
  readonly resource?: string | undefined
  /** True: each tenant has an address of its own, of which `resource` is the pattern. */
  readonly hasTenantAddresses: boolean
  readonly tenantParameter: string
  readonly senderProofs: SenderProofs
  /** The INI file, which a hint in the log names. */
  readonly configFile?: string | undefined
}

/**
 * Adds the headers to the response of a refusal, and logs it. It runs in `onError`, not where the
 * error is thrown. So an error handler of the application cannot omit it, and an error that a
 * handler catches leaves no trace.
 */
export function errorResponse(rules: ResponseRules): onErrorHookHandler {
  const challengesFor = challengeWriter(rules)
  const hints = { text: hintOf(rules.configFile), hinted: new Set<string>() }
  return function tenantAuthAnswer(request, reply, error, done) {
    if (isThrown(error, AuthError)) {
      // Read once, since they are getters; a handler may have written anything over them.
      const { challenge, reason, retryAfter, statusCode } = error
      reply.header('cache-control', 'no-store')
      if (challenge !== null && challenge !== undefined) {
        reply.header('www-authenticate', challengesFor(request, challenge, statusCode))
      }
      // RFC 9110 §10.2.3: whole seconds.
      if (typeof retryAfter === 'number') {
        reply.header('retry-after', Math.max(1, Math.ceil(retryAfter) || 1))
      }
      // After a request for an upgrade, Node's server leaves the socket to who listens for upgrades.
      if ('upgrade' in request.raw && request.raw.upgrade === true) endAfterAnswer(request, reply)
      const context = authContextOf(request)
      logRefusal(request, context, error, { reason, required: challenge?.scope }, hints)
    }
    done()
  }
}

/**
 * One line for each refusal. It names no user by itself. An application that wants the user has
 * `logBindings` and `refusalOf`.
 */
export function logRefusal(
  request: FastifyRequest,
  context: AuthContext | null | undefined,
  error: AuthError,
  { reason, required }: { readonly reason: string; readonly required: Challenge['scope'] },
  hints?: Hints,
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
    hint: hints && statusCode === 401 ? hintFor(request.log, error, hints) : undefined,
  }
  logLine(request.log, statusCode < 500 ? 'info' : 'warn', 'request refused', line)
}

function tenantFor(context: AuthContext | null | undefined): string | undefined {
  if (!context || hasBoundTenant(context)) return undefined
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

/** A hint where to look further, once for each reason why a token is refused. */
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

/**
 * After a refused upgrade, no server reads from the socket any more. It is destroyed, as Node does
 * with other connections that end: a stranger may keep the other half open for ever.
 */
function endAfterAnswer(request: FastifyRequest, reply: FastifyReply): void {
  const { socket } = request.raw
  reply.header('connection', 'close')
  reply.raw.once('finish', () => socket.end(() => socket.destroy()))
}

/**
 * Writes the challenges of a refusal (RFC 6750 §3, RFC 9449 §7.1, RFC 9470 §3), one for each scheme
 * that works. Scheme, realm and the address of the metadata are made of the configuration, once.
 * Nothing that a request says of the host or of itself is part of a challenge.
 */
function challengeWriter(rules: ResponseRules) {
  const { realm, resource, senderProofs } = rules
  const bearer = `Bearer realm=${quoted(realm)}`
  const dpop = `DPoP realm=${quoted(realm)}, algs="${proofAlgorithms.join(' ')}"`
  const metadataOf = rules.hasTenantAddresses ? documentsByTenant(rules) : undefined
  const fixed = resource === undefined ? '' : metadataParameter(metadataAddress(resource))
  return (request: FastifyRequest, challenge: Challenge, statusCode: number): string | string[] => {
    // Own members only: there may be no `error`, and Object.prototype may have one.
    const error = Object.hasOwn(challenge, 'error') ? challenge.error : undefined
    const scope = Object.hasOwn(challenge, 'scope') ? challenge.scope : undefined
    const stepUp = Object.hasOwn(challenge, 'stepUp') ? challenge.stepUp : undefined
    const isOfLogin = error === 'insufficient_user_authentication'
    // A client without a valid token needs the scope for its request to the authorization server.
    const needsScope = statusCode === 401 && resource !== undefined && !isOfLogin
    const scopeOfRoute = needsScope ? scopeOf(requiredBy(request)) : ''
    const details = isOfLogin ? loginOf(stepUp) : needsScope ? '' : scopeOf(scope)
    const fault = error === undefined ? details : `, error="${error}"${details}`
    const tail = scopeOfRoute + (metadataOf === undefined ? fixed : metadataOf(request))
    if (!senderProofs.dpop) return bearer + fault + tail
    // A bearer token may be bound to a certificate.
    const takesBearer = senderProofs.certificate || !authContextOf(request)?.policy.mustBeBound
    const isDpop = !takesBearer || usedDpop(request)
    const ofDpop = dpop + (isDpop ? fault : '') + tail
    return takesBearer ? [bearer + (isDpop ? '' : fault) + tail, ofDpop] : ofDpop
  }
}

function documentsByTenant({ resource, tenantParameter }: ResponseRules) {
  if (resource === undefined) return undefined
  const documents = new TenantAddresses(metadataAddress(resource), tenantParameter)
  return (request: FastifyRequest): string => {
    const context = authContextOf(request)
    const tenant = context ? requestedTenant(context) : null
    return metadataParameter(tenant === null ? undefined : documents.of(tenant))
  }
}

/** RFC 9728 §5.1. */
function metadataParameter(address: string | undefined): string {
  return address === undefined ? '' : `, resource_metadata=${quoted(address)}`
}

/** A verified token is what it has proved to be, whatever a hook put into the header since. */
function usedDpop(request: FastifyRequest): boolean {
  const possession = authContextOf(request)?.possession
  return possession ? possession.bound === 'dpop' : countsAsDpop(request)
}

/** Scopes of routes, whose ids are frozen. */
const scopes = new WeakMap<readonly string[], string>()

function scopeOf(required: readonly string[] = []): string {
  const known = scopes.get(required)
  if (known !== undefined) return known
  // A handler may require anything, which must not break the header.
  if (!Array.isArray(required)) return ''
  const ids = required.filter(isResourceId)
  const scope = ids.length === 0 ? '' : `, scope="${ids.join(' ')}"`
  if (Object.isFrozen(required)) scopes.set(required, scope)
  return scope
}

/** RFC 9470 §3. An application that makes the error itself may want anything. */
function loginOf(stepUp: Partial<StepUp> = {}): string {
  const { acr = [], maxAge } = ownCopy(stepUp)
  const values = [acr].flat().filter(isAcr)
  const wanted = values.length === 0 ? '' : `, acr_values="${values.join(' ')}"`
  return isMaxAge(maxAge) ? `${wanted}, max_age="${maxAge}"` : wanted
}

/** The ids that the request's route requires. A scope cannot say that any of several will do. */
function requiredBy(request: FastifyRequest): readonly string[] {
  const requirement = authContextOf(request)?.policy.requirement
  return requirement?.mode === 'all' ? requirement.ids : []
}

/** A quoted-string (RFC 9110 §5.6.4). */
function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`
}
