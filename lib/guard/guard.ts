import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  HookHandlerDoneFunction,
} from 'fastify'
import type { PolicyRules } from '../declaration/policy.ts'
import { RouteRegister } from '../declaration/route-register.ts'
import { AuthError, ERR_AUTH_TOKEN_INVALID } from '../errors.ts'
import { errorCode, isThrown } from '../outside/error-code.ts'
import { attempt } from '../outside/now-or-later.ts'
import { withoutStack } from '../outside/without-stack.ts'
import type { Authorization } from '../rights/authorization.ts'
import { currentAuthorization, underAuthorization } from '../rights/current-authorization.ts'
import { hasEnded } from './admission-end.ts'
import { answerIn } from './answer.ts'
import { Asked, type DecisionRules } from './asked.ts'
import { enterContext, keepContext } from './async-context.ts'
import { type ChallengeRules, challengesOf } from './challenge.ts'
import { conclude } from './conclude.ts'
import { decide } from './decide.ts'
import { Access, askedOf, decisionOf, setDecision } from './decision.ts'
import { readsDeclared } from './decorated-request.ts'
import { claimScope } from './guarded-scopes.ts'
import { doneUnlessProbed, noteRefusal } from './probed-request.ts'
import { Refused } from './refused.ts'

export interface GuardRules extends DecisionRules, ChallengeRules {}

/**
 * Adds the guard to a scope at two hooks. `onRequest` runs before a byte of the body is read.
 * `preHandler` is the last gate: it decides what is not decided yet, before any handler runs.
 */
export function addGuard(
  app: FastifyInstance,
  policies: PolicyRules,
  rules: GuardRules,
): RouteRegister {
  claimScope(app)
  const register = new RouteRegister(app, policies, readsDeclared)

  const policyOf = (request: FastifyRequest) => register.policyOf(request)

  function guard(
    request: FastifyRequest,
    reply: FastifyReply,
    done: HookHandlerDoneFunction,
    before: Asked | null = null,
  ): void {
    if (currentAuthorization() !== null) {
      // A handler has injected the request, or it follows another one on its connection.
      underAuthorization(null, () => guard(request, reply, done, before))
      return
    }
    const policy = policyOf(request)
    if (policy === null || policy.noauth) {
      // If an error handler calls the not-found handler, a refused request comes here again.
      if (decisionOf(request) === undefined) setDecision(request, null)
      done()
      return
    }
    const asked = new Asked({ request, reply }, policy, rules, before)
    void attempt(
      () => decide(asked),
      (outcome) => {
        if (outcome instanceof AuthError) refuse(new Refused(outcome, asked), done)
        else admit(asked, outcome, done)
      },
      (error) => refuse(new Refused(asRefusal(error), asked), done),
    )
  }

  app.addHook('onRequest', function tenantAuthGuard(request, reply, done) {
    guard(request, reply, done)
  })

  app.addHook('preHandler', function tenantAuthGate(request, reply, next) {
    const done = doneUnlessProbed(request, reply, next, policyOf)
    const decision = decisionOf(request)
    // A body may have taken an hour. If its token has ended since, everything is asked anew.
    const isOpen = decision instanceof Access ? !hasEnded(decision) : decision === null
    if (isOpen) enterContext(request, done)
    else guard(request, reply, done, askedOf(request))
  })

  app.addHook('onError', answerIn(challengesOf(rules)))
  keepContext(app, rules)
  return register
}

function admit(asked: Asked, authorization: Authorization, done: HookHandlerDoneFunction): void {
  setDecision(asked.request, new Access(asked, authorization))
  conclude(asked, null)
  enterContext(asked.request, done)
}

function refuse(refused: Refused, done: HookHandlerDoneFunction): void {
  setDecision(refused.asked.request, refused)
  noteRefusal(refused)
  conclude(refused.asked, refused.error)
  done(refused.error)
}

/**
 * After an error of the guard's own, the route stays closed, and the answer is not a 500 that a
 * caller could cause.
 */
function asRefusal(error: unknown): AuthError {
  if (isThrown(error, AuthError)) return error
  return withoutStack(() => new ERR_AUTH_TOKEN_INVALID(`the guard failed (${errorCode(error)})`))
}
