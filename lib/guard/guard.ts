import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  HookHandlerDoneFunction,
} from 'fastify'
import { AuthError, ERR_AUTH_TOKEN_INVALID } from '../errors.ts'
import { Authorization } from '../identity/authorization/authorization.ts'
import {
  currentAuthorization,
  hasContexts,
  runWithAuthorization,
} from '../identity/authorization/current-authorization.ts'
import { errorCode, isThrown, withoutStack } from '../platform/runtime/error.ts'
import type { PolicyRules } from '../routes/policy.ts'
import { RouteRegistry } from '../routes/route-registry.ts'
import { hasEnded } from './abort-signal.ts'
import { enterContext, keepContext } from './async-context.ts'
import { AuthContext, authContextOf, type DecisionRules, setAuthContext } from './context.ts'
import { decide } from './decide.ts'
import { recordDecision } from './decision-events.ts'
import { type ChallengeRules, errorResponse } from './error-response.ts'
import { doneInPlace, noteRefusal, ProbedRequest } from './probe-gate.ts'
import { readsDeclared } from './request-decorators.ts'
import { claimScope } from './scopes.ts'

export interface GuardRules extends DecisionRules, ChallengeRules {}

/**
 * Adds the guard to a scope at two hooks. `onRequest` runs before a byte of the body is read.
 * `preHandler` is the last gate: it decides whatever is not decided yet, before any handler runs.
 */
export function addGuard(
  app: FastifyInstance,
  policies: PolicyRules,
  rules: GuardRules,
): RouteRegistry {
  claimScope(app)
  const register = new RouteRegistry(app, policies, readsDeclared)

  function guard(
    request: FastifyRequest,
    reply: FastifyReply,
    done: HookHandlerDoneFunction,
    before: AuthContext | null = null,
  ): void {
    if (hasContexts && currentAuthorization() !== null) {
      // A handler has injected the request, or it follows another one on its connection.
      runWithAuthorization(null, () => guard(request, reply, done, before))
      return
    }
    const policy = register.policyOf(request)
    if (policy === null || policy.noauth) {
      // If an error handler calls the not-found handler, a refused request comes here again.
      if (authContextOf(request) === undefined) setAuthContext(request, null)
      done()
      return
    }
    const context = new AuthContext({ request, reply }, policy, rules, before)
    let decision: ReturnType<typeof decide>
    try {
      decision = decide(context)
    } catch (error) {
      decision = asRefusal(error)
    }
    if (!(decision instanceof Promise)) {
      conclude(context, decision, done)
      return
    }
    void decision.then(
      (decided) => conclude(context, decided, done),
      (error) => conclude(context, asRefusal(error), done),
    )
  }

  app.addHook('onRequest', function tenantAuthGuard(request, reply, done) {
    guard(request, reply, done)
  })

  app.addHook('preHandler', function tenantAuthGate(request, reply, next) {
    const isProbe = request.raw instanceof ProbedRequest
    const done = isProbe ? doneInPlace(request, reply, next, register) : next
    const context = authContextOf(request)
    // A body may have taken an hour. If its token has ended since, everything is asked anew.
    const isOpen = context?.authorization ? !hasEnded(context) : context === null
    if (!isOpen) guard(request, reply, done, context)
    else if (hasContexts) enterContext(request, done)
    else done()
  })

  app.addHook('onError', errorResponse(rules))
  keepContext(app, rules)
  return register
}

function conclude(
  context: AuthContext,
  decision: Authorization | AuthError,
  done: HookHandlerDoneFunction,
): void {
  const { request } = context
  setAuthContext(request, context)
  if (decision instanceof Authorization) {
    context.authorization = decision
    recordDecision(context)
    if (context.rules.asyncContext) enterContext(request, done)
    else done()
  } else {
    context.error = decision
    if (request.raw instanceof ProbedRequest) noteRefusal(context, decision)
    recordDecision(context)
    done(decision)
  }
}

/**
 * After an error of the guard's own, the route stays closed, and the answer is not a 500 that a
 * caller could cause.
 */
function asRefusal(error: unknown): AuthError {
  if (isThrown(error, AuthError)) return error
  return withoutStack(() => new ERR_AUTH_TOKEN_INVALID(`the guard failed (${errorCode(error)})`))
}
