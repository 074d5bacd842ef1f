import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  HookHandlerDoneFunction,
  onRequestHookHandler,
} from 'fastify'
import { AuthError, ERR_AUTH_TOKEN_INVALID } from '../errors.ts'
import type { Authorization } from '../tenancy/authorization.ts'
import { type DecisionRules, decide } from './decide.ts'
import type { Policy } from './policy.ts'
import { isPreflight } from './preflight.ts'
import { Access, decisionOf, setDecision } from './request-access.ts'
import type { RouteRegister } from './route-register.ts'

export interface GuardRules extends DecisionRules {
  readonly realm: string
}

/** What becomes of a request once it is decided. */
type Settle = (request: FastifyRequest, refusal: AuthError, done: HookHandlerDoneFunction) => void

/**
 * Adds the guard to a scope: at `onRequest`, before a byte of the body is read; and at `preHandler`, the last gate,
 * where whatever has come so far undecided is decided. No handler runs before.
 */
export function addGuard(app: FastifyInstance, register: RouteRegister, rules: GuardRules): void {
  function guard(request: FastifyRequest, done: HookHandlerDoneFunction, settle: Settle): void {
    const policy = register.policyOf(request)
    if (policy === null || policy.noauth) {
      setDecision(request, null)
      done()
      return
    }
    let authorization: Authorization | Promise<Authorization>
    try {
      authorization = decide({ request, policy, rules })
    } catch (error) {
      settle(request, asRefusal(error, rules), done)
      return
    }
    if (authorization instanceof Promise) {
      authorization.then(
        (late) => admit(request, late, policy, done),
        (error) => settle(request, asRefusal(error, rules), done),
      )
    } else {
      admit(request, authorization, policy, done)
    }
  }

  const onRequest: onRequestHookHandler = (request, _reply, done) => {
    guard(request, done, isPreflight(request) ? holdBack : refuse)
  }
  // By its name the audit finds it in print.
  Object.defineProperty(onRequest, 'name', { value: register.guardName })
  app.addHook('onRequest', onRequest)

  app.addHook('preHandler', function tenantAuthGate(request, _reply, done) {
    const decision = decisionOf(request)
    if (decision === undefined) guard(request, done, refuse)
    else if (decision instanceof AuthError) done(decision)
    else done()
  })

  app.addHook('onError', tenantAuthAnswer)
}

function admit(
  request: FastifyRequest,
  authorization: Authorization,
  policy: Policy,
  done: HookHandlerDoneFunction,
): void {
  setDecision(request, new Access(authorization, policy.declared))
  done()
}

function refuse(_request: FastifyRequest, refusal: AuthError, done: HookHandlerDoneFunction): void {
  done(refusal)
}

/** A preflight goes on, for @fastify/cors to answer; one that nobody answers meets its refusal at the gate. */
function holdBack(
  request: FastifyRequest,
  refusal: AuthError,
  done: HookHandlerDoneFunction,
): void {
  setDecision(request, refusal)
  done()
}

/** An error of the guard's own is no reason to open a route, nor for a 500 that a caller could cause. */
function asRefusal(error: unknown, { realm }: GuardRules): AuthError {
  return error instanceof AuthError ? error : new ERR_AUTH_TOKEN_INVALID(realm, 'the guard failed')
}

/** Headers are added here rather than by the thrower: they survive an application's error handler, and an error that a handler catches leaves none. */
function tenantAuthAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  error: Error,
  done: () => void,
): void {
  if (error instanceof AuthError) {
    if (error.headers) reply.headers(error.headers)
    const { code, statusCode, reason } = error
    request.log[statusCode < 500 ? 'info' : 'warn']({ code, reason }, 'request refused')
    if (request.headers.upgrade !== undefined) endAfterAnswer(request, reply)
  }
  done()
}

/** A socket that came to be upgraded is nobody's after a refusal: Node's server has let go of it, and no WebSocket plugin has it yet. */
function endAfterAnswer(request: FastifyRequest, reply: FastifyReply): void {
  const { socket } = request.raw
  reply.raw.once('finish', () => socket.end?.())
}
