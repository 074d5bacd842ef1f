import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  HookHandlerDoneFunction,
  onRequestHookHandler,
} from 'fastify'
import type { PolicyRules } from '../declaration/policy.ts'
import { RouteRegister } from '../declaration/route-register.ts'
import { AuthError, ERR_AUTH_TOKEN_INVALID } from '../errors.ts'
import { isThrown } from '../outside/error-code.ts'
import { attempt } from '../outside/now-or-later.ts'
import { withoutStack } from '../outside/without-stack.ts'
import type { Authorization } from '../rights/authorization.ts'
import { currentAuthorization, underAuthorization } from '../rights/current-authorization.ts'
import { answerIn } from './answer.ts'
import { Asked, type DecisionRules } from './asked.ts'
import { enterContext, keepContext, keepContextOf } from './async-context.ts'
import { type ChallengeRules, challengesOf } from './challenge.ts'
import { conclude } from './conclude.ts'
import { decide } from './decide.ts'
import { Access, askedOf, decisionOf, setDecision } from './decision.ts'
import { readsDeclared } from './decorated-request.ts'
import { claimScope } from './guarded-scopes.ts'
import { holdBack, isPreflight, Preflights } from './preflight.ts'
import { doneUnlessProbed, noteRefusal } from './probed-request.ts'
import { HeldBack, Refused } from './refused.ts'

export interface GuardRules extends DecisionRules, ChallengeRules {}

/** Told of each request that is refused. */
type Settle = (refused: Refused, done: HookHandlerDoneFunction) => void

/**
 * Adds the guard to a scope at two hooks. `onRequest` runs before a byte of the body is read.
 * `preHandler` is the last gate: it decides what is not decided yet, before any handler runs.
 */
export function addGuard(
  app: FastifyInstance,
  policies: PolicyRules,
  rules: GuardRules,
): { readonly register: RouteRegister; readonly preflights: Preflights } {
  const preflights = new Preflights(app)
  const register: RouteRegister = new RouteRegister(app, claimScope(app), policies, {
    isSound: readsDeclared,
    keep: (route) => {
      preflights.keep(route)
      keepContextOf(route, rules)
    },
    settle: (...route) => preflights.settle(...route),
    confirm: (route) =>
      function tenantAuthConfirm(request, reply, done) {
        if (register.confirms(request, route)) {
          done()
          return
        }
        const before = askedOf(request)
        setDecision(request, undefined)
        guard(request, reply, done, refuse, before)
      },
  })

  const policyOf = (request: FastifyRequest) => register.policyOf(request)

  function guard(
    request: FastifyRequest,
    reply: FastifyReply,
    done: HookHandlerDoneFunction,
    settle: Settle,
    before: Asked | null = null,
  ): void {
    if (currentAuthorization() !== null) {
      // A handler has injected the request, or it follows another one on its connection.
      underAuthorization(null, () => guard(request, reply, done, settle, before))
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
        if (outcome instanceof AuthError) settle(new Refused(outcome, asked), done)
        else admit(asked, outcome, done)
      },
      (error) => settle(new Refused(asRefusal(error), asked), done),
    )
  }

  /**
   * A preflight goes on if @fastify/cors may answer it. If it does not, the preflight meets a gate.
   */
  const holdBackOrRefuse: Settle = (refused, done) => {
    const { request, policy } = refused.asked
    if (isPreflight(request) && preflights.mayHoldBack(policy)) {
      holdBack(refused)
      done()
    } else refuse(refused, done)
  }

  const onRequest: onRequestHookHandler = (request, reply, done) => {
    guard(request, reply, done, holdBackOrRefuse)
  }
  // The audit finds the hook by its name where Fastify prints it.
  Object.defineProperty(onRequest, 'name', { value: register.guardName })
  app.addHook('onRequest', onRequest)

  app.addHook('preHandler', function tenantAuthGate(request, reply, next) {
    const done = doneUnlessProbed(request, reply, next, policyOf)
    const decision = decisionOf(request)
    if (decision instanceof HeldBack) refuse(decision.refused, done)
    else if (decision === undefined || decision instanceof Refused)
      guard(request, reply, done, refuse, askedOf(request))
    else enterContext(request, rules, done)
  })

  app.addHook('onError', answerIn(challengesOf(rules)))
  keepContext(app, rules)
  return { register, preflights }
}

function admit(asked: Asked, authorization: Authorization, done: HookHandlerDoneFunction): void {
  setDecision(asked.request, new Access(asked, authorization))
  conclude(asked, null)
  enterContext(asked.request, asked.rules, done)
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
  return withoutStack(() => new ERR_AUTH_TOKEN_INVALID('the guard failed'))
}
