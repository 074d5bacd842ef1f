import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  HookHandlerDoneFunction,
} from 'fastify'
import { AuthError, ERR_AUTH_STEP_UP_REQUIRED, ERR_AUTH_TOKEN_INVALID } from '../errors.ts'
import { changedIssuerRefusal } from '../identity/authentication/jwt-verifier.ts'
import { denialRefusal } from '../identity/authentication/revocation-check.ts'
import {
  currentAuthorization,
  hasContexts,
  runWithAuthorization,
} from '../identity/authorization/current-authorization.ts'
import { Membership } from '../identity/authorization/principal.ts'
import { lifetimeRefusal } from '../identity/jwt/registered-claims.ts'
import { tokenInfo } from '../identity/jwt/token-info.ts'
import { tokenRefusal } from '../identity/jwt/token-refusal.ts'
import { errorCode, isThrown, withoutStack } from '../platform/runtime/error.ts'
import type { MaybePromise } from '../platform/runtime/maybe-promise.ts'
import type { PolicyRules } from '../routes/policy.ts'
import { RouteRegistry } from '../routes/route-registry.ts'
import { enterContext, keepContext } from './async-context.ts'
import type { Checks } from './checks.ts'
import {
  AuthContext,
  authContextOf,
  type DecisionRules,
  type DecisionState,
  isAdmitted,
  setAuthContext,
} from './context.ts'
import {
  type Decision,
  decide,
  GUEST,
  identify,
  isWithdrawn,
  loginRefusal,
  UNDECIDED,
} from './decide.ts'
import { bindLog, recordDecision } from './decision-events.ts'
import { errorResponse, logRefusal, type ResponseRules } from './error-response.ts'
import { doneInPlace, hasProbes, isProbed, noteProbeEnd } from './probe-gate.ts'
import { readsDeclared } from './request-decorators.ts'
import { assertUnguarded } from './scopes.ts'

export interface GuardRules extends DecisionRules, ResponseRules {
  readonly checks?: Checks | undefined
}

/**
 * Adds the guard to a scope at two hooks. `onRequest` runs before a byte of the body is read.
 * `preHandler` is the last gate: it decides whatever is not decided yet, before any handler runs.
 * On a late route `onRequest` decides only who asks, and the last gate decides the rest.
 */
export function addGuard(
  app: FastifyInstance,
  policies: PolicyRules,
  rules: GuardRules,
): RouteRegistry {
  assertUnguarded(app)
  const registry = new RouteRegistry(app, policies, readsDeclared)

  /** @param previous the decision at the first hook; null: there was none */
  function guard(
    hook: 'onRequest' | 'preHandler',
    request: FastifyRequest,
    reply: FastifyReply,
    done: HookHandlerDoneFunction,
    previous: AuthContext | null,
  ): void {
    if (hasContexts && currentAuthorization() !== null) {
      // A handler has injected the request, or it follows another one on its connection.
      runWithAuthorization(null, () => guard(hook, request, reply, done, previous))
      return
    }
    const policy = registry.policyOf(request)
    if (policy === null || policy.isExempt) {
      // If an error handler calls the not-found handler, a refused request comes here again.
      if (authContextOf(request) === undefined) setAuthContext(request, null)
      done()
      return
    }
    const context = new AuthContext({ request, reply }, policy, rules, previous)
    let decision: MaybePromise<Decision | typeof UNDECIDED>
    try {
      decision = policy.late && hook === 'onRequest' ? identify(context) : decide(context)
    } catch (error) {
      decision = asRefusal(error)
    }
    if (!(decision instanceof Promise)) {
      conclude(context, decision, done)
      return
    }
    void decision.then(
      (decided) => conclude(context, decided, done, hook === 'preHandler'),
      (error) => conclude(context, asRefusal(error), done),
    )
  }

  function decideAnew(context: AuthContext, done: HookHandlerDoneFunction): void {
    guard('preHandler', context.request, context.reply, done, context)
  }

  app.addHook('onRequest', function tenantAuthGuard(request, reply, done) {
    guard('onRequest', request, reply, done, null)
  })

  app.addHook('preHandler', function tenantAuthGate(request, reply, next) {
    let done = next
    if (hasProbes && isProbed(request)) done = doneInPlace(request, reply, next, registry)
    else if (rules.checks !== undefined && registry.policyOf(request)?.checks) {
      done = doneIfChecked(request, rules.checks, next, decideAnew)
    }
    const context = authContextOf(request)
    // A body may have taken an hour. If its token has ended since, everything is asked anew. A
    // parser may have stored the body elsewhere.
    const hasNoBody = request.method === 'GET' && request.body === undefined
    const isDecided = context
      ? isAdmitted(context) && !endRefusal(context, true) && (hasNoBody || !isWithdrawn(context))
      : context === null
    if (!isDecided) guard('preHandler', request, reply, done, context ?? null)
    else if (hasContexts) enterContext(request, done)
    else done()
  })

  app.addHook('onError', errorResponse(rules))
  keepContext(app, rules)
  return registry
}

function conclude(
  context: AuthContext,
  decision: Decision | typeof UNDECIDED,
  done: HookHandlerDoneFunction,
  hasWaitedAtGate = false,
): void {
  const { request, policy, rules } = context
  setAuthContext(request, context)
  if (decision instanceof AuthError) {
    refuse(context, decision, done)
    return
  }
  if (decision === GUEST) context.isGuest = policy.guests || policy.noauth
  else if (decision instanceof Membership) context.membership = decision
  if (!isAdmitted(context)) {
    if (decision === UNDECIDED) enterContext(request, done)
    else refuse(context, notAdmitted(), done)
    return
  }
  // After a wait at the last gate no gate comes any more, and the token may have ended.
  const end = hasWaitedAtGate ? endRefusal(context) : undefined
  if (end !== undefined) {
    refuseEnded(context, end, done)
    return
  }
  // With checks, the decision is recorded after them.
  if (policy.checks === null) recordDecision(context)
  else if (rules.logBindings !== undefined) bindLog(context, rules.logBindings)
  if (rules.asyncContext) enterContext(request, done)
  else done()
}

function refuse(context: AuthContext, error: AuthError, done: HookHandlerDoneFunction): void {
  const { request, reply, policy } = context
  context.membership = null
  context.isGuest = false
  context.error = error
  if (hasProbes && isProbed(request)) noteProbeEnd(request, policy, error)
  recordDecision(context)
  // Fastify has answered by itself meanwhile, as after `handlerTimeout`, and runs no `onError`.
  if (reply.sent) {
    const { reason, challenge } = error
    logRefusal(request, context, error, { reason, required: challenge?.scope })
  }
  done(error)
}

/** A refusal by the token's end names no user, but for one who has to log in again. */
function refuseEnded(context: AuthContext, error: AuthError, done: HookHandlerDoneFunction): void {
  if (!(error instanceof ERR_AUTH_STEP_UP_REQUIRED)) context.principal = null
  refuse(context, error, done)
}

/**
 * Goes on with an admitted request only if the checks of its route hold.
 *
 * @param decideAnew called once at most, if the issuer or its keys have changed meanwhile
 */
function doneIfChecked(
  request: FastifyRequest,
  checks: Checks,
  done: HookHandlerDoneFunction,
  decideAnew?: (context: AuthContext, done: HookHandlerDoneFunction) => void,
): HookHandlerDoneFunction {
  return (error) => {
    const context = authContextOf(request)
    if (error !== undefined) return done(error)
    if (!context || !isAdmitted(context)) return done(notAdmitted())
    void checks.refusalOf(context).then((refusal) => {
      // A check may take its time. What it said of the user is not kept for another decision.
      if (decideAnew !== undefined && isWithdrawn(context)) {
        return decideAnew(context, doneIfChecked(request, checks, done))
      }
      if (refusal !== null) return refuse(context, refusal, done)
      // The keys were replaced a second time: a check is not asked again and again.
      const end = isWithdrawn(context) ? changedIssuerRefusal() : endRefusal(context)
      if (end !== undefined) return refuseEnded(context, end, done)
      recordDecision(context)
      enterContext(request, done)
    })
  }
}

/**
 * The refusal of an admitted request that has outlived its token, as far as that is known without a
 * wait: by the token's time, by what proved it, by a deny list that is `isRevoked`, and by the age
 * of the login that its route wants. Undefined: it has not.
 *
 * @param mustBeFresh true: an opaque token ends with its answer, which is older than `opaqueMaxAge`
 */
export function endRefusal(context: DecisionState, mustBeFresh = false): AuthError | undefined {
  const { verified, principal, policy, rules } = context
  // In dev mode there is no token.
  if (verified === null) return undefined
  const { names, lifetime, isOpaque, validity } = verified
  const outOfTime = lifetimeRefusal(lifetime, rules.clockTolerance)
  if (outOfTime !== undefined) return outOfTime
  if (validity.hasEnded) return changedIssuerRefusal()
  if (mustBeFresh && validity.isOutdated) return tokenRefusal('expired')
  if (rules.denies !== undefined) {
    const sub = principal?.sub ?? ''
    const denied = denialRefusal(rules.denies, sub, tokenInfo(names, lifetime, isOpaque))
    if (denied !== undefined) return denied
  }
  return policy.stepUp === null ? undefined : loginRefusal(policy.stepUp, context)
}

/** A failure of the guard itself closes the route. It is no 500, which a caller could cause. */
export function asRefusal(error: unknown): AuthError {
  if (isThrown(error, AuthError)) return error
  return withoutStack(() => new ERR_AUTH_TOKEN_INVALID(`the guard failed (${errorCode(error)})`))
}

/** No step has refused, and none has admitted. */
export function notAdmitted(): AuthError {
  return asRefusal(undefined)
}
