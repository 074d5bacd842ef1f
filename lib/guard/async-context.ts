import type { FastifyInstance, FastifyRequest } from 'fastify'
import { underAuthorization } from '../rights/current-authorization.ts'
import type { DecisionRules } from './decide.ts'
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
 * Enters the context anew where it may be lost, or may be that of another request. Node reads a
 * body, and tells the end of a response, in the context of the connection or of the request before
 * on it. An application may answer in a callback of a pool, which another request has called.
 */
export function keepContext(app: FastifyInstance, rules: ContextRules): void {
  if (!rules.asyncContext) return
  app.addHook('preValidation', (request, _reply, done) => enterContext(request, rules, done))
  app.addHook('onError', (request, _reply, _error, done) => enterContext(request, rules, done))
  app.addHook('onSend', (request, _reply, payload, done) => {
    enterContext(request, rules, () => done(null, payload))
  })
  app.addHook('onResponse', (request, _reply, done) => enterContext(request, rules, done))
}
