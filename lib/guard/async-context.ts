import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { WrittenRoute } from '../declaration/written-route.ts'
import { underAuthorization } from '../rights/current-authorization.ts'
import type { DecisionRules } from './asked.ts'
import { authorizationOf } from './request-access.ts'

type ContextRules = Pick<DecisionRules, 'asyncContext'>

/**
 * Goes on with a request under its own authorization. Where the option is off, it goes on under
 * none, because the request may come from a handler of another service that has the option.
 */
export function enterContext(
  request: FastifyRequest,
  { asyncContext }: ContextRules,
  done: () => void,
): void {
  underAuthorization(asyncContext ? authorizationOf(request) : null, done)
}

/**
 * Enters the context anew before the hooks of each step. It may be lost by then, or be that of
 * another request: a hook goes on in the callback of a pool, a handler answers in one, and Node
 * tells the end of a response in the context of the response before it on the connection.
 */
export function keepContext(app: FastifyInstance, rules: ContextRules): void {
  if (!rules.asyncContext) return
  const enter = enterHook(rules)
  const enterWithPayload = enterPayloadHook(rules)
  app.addHook('preParsing', enterWithPayload)
  app.addHook('preValidation', enter)
  app.addHook('preSerialization', enterWithPayload)
  app.addHook('onSend', enterWithPayload)
  app.addHook('onError', (request, reply, _error, done) => enter(request, reply, done))
  app.addHook('onResponse', enter)
}

/**
 * Enters the context anew after the route's last hook. The hooks before may go on in the callback
 * of a pool, which another request calls; the handler must not.
 */
export function keepContextOf(route: WrittenRoute, rules: ContextRules): void {
  if (rules.asyncContext) route.appendPreHandler(enterHook(rules))
}

function enterHook(rules: ContextRules) {
  return (request: FastifyRequest, _reply: FastifyReply, done: () => void): void => {
    enterContext(request, rules, done)
  }
}

function enterPayloadHook(rules: ContextRules) {
  return <Payload>(
    request: FastifyRequest,
    _reply: FastifyReply,
    payload: Payload,
    done: (error: null, payload: Payload) => void,
  ): void => {
    enterContext(request, rules, () => done(null, payload))
  }
}
