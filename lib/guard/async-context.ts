import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { runWithAuthorization } from '../identity/authorization/current-authorization.ts'
import { contextKey, contextOf, type RequestContext, rootScope } from '../routes/fastify-scope.ts'
import { aliasHandler } from '../routes/route-capture.ts'
import { admittedContextOf, type DecisionRules, type DecisionState } from './context.ts'

/**
 * Goes on with a request under its own authorization. It goes on under none if it was not admitted,
 * or if its service lacks the option: a handler of a service that has it may have made the request.
 */
export function enterContext(request: FastifyRequest, done: () => void): void {
  runInContext(admittedContextOf(request), done)
}

export function runInContext<T>(context: DecisionState | undefined, run: () => T): T {
  const membership = context?.rules.asyncContext ? context.membership : null
  return runWithAuthorization(membership?.authorization ?? null, run)
}

/** The applications whose steps enter the context. One may have several guards. */
const entering = new WeakSet<FastifyInstance>()

/**
 * Enters the context anew at each step of every request of the application, those that no guard
 * covers too. It may be lost by then, or be that of another request: a hook goes on in the callback
 * of a pool, a handler answers in one or injects a request, and Node reports the end of a response
 * in the context of the response before it on the connection.
 */
export function keepContext(
  app: FastifyInstance,
  { asyncContext }: Pick<DecisionRules, 'asyncContext'>,
): void {
  if (!asyncContext) return
  const root = rootScope(app)
  if (entering.has(root)) return
  entering.add(root)
  // One for all requests of an application. To look for it in each costs more than all else here.
  let key: symbol | undefined
  root.addHook('onRequest', enter)
  root.addHook('preParsing', enterWithPayload)
  root.addHook('preValidation', enter)
  root.addHook('preHandler', (request, reply, done) => {
    key ??= contextKey(request)
    keepHandler(request, key)
    enter(request, reply, done)
  })
  root.addHook('preSerialization', enterWithPayload)
  root.addHook('onSend', enterWithPayload)
  root.addHook('onError', (request, reply, _error, done) => enter(request, reply, done))
  root.addHook('onResponse', enter)
}

/** Contexts of Fastify whose handlers enter the context of each request. */
const handled = new WeakSet<RequestContext>()

/**
 * Lets the handler begin in the context of its request. The last hook before it may go on in the
 * callback of a pool, which another request calls. No hook comes later than all others, and no
 * `onRoute` sees the not-found handler.
 */
function keepHandler(request: FastifyRequest, key: symbol | undefined): void {
  const context = contextOf(request, key)
  if (context === undefined || handled.has(context)) return
  handled.add(context)
  const { handler } = context
  context.handler = (handling, reply) =>
    runInContext(admittedContextOf(handling), () => handler(handling, reply))
  aliasHandler(handler, context.handler)
}

function enter(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  enterContext(request, done)
}

function enterWithPayload<Payload>(
  request: FastifyRequest,
  _reply: FastifyReply,
  payload: Payload,
  done: (error: null, payload: Payload) => void,
): void {
  enterContext(request, () => done(null, payload))
}
