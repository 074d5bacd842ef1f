import { Readable } from 'node:stream'
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  HookHandlerDoneFunction,
} from 'fastify'
import type { AuthError } from '../errors.ts'
import { commonPrototype, contextKey, isContext, isWithin } from '../routes/fastify-scope.ts'
import type { Policy } from '../routes/policy.ts'
import { aliasHandler } from '../routes/route-capture.ts'
import type { RouteRegistry } from '../routes/route-registry.ts'
import { guardedScopes } from './scopes.ts'

/**
 * The raw request of a probe. Its class is the mark of a probe. A request that comes from outside
 * has Node's class, so no header and no socket can make one.
 */
export class ProbedRequest extends Readable {}

/** True from the first probe on. Without one, requests need not look. */
export let hasProbes = false

/**
 * The raw request of each probe, as it began: Express replaces the class of a raw request, and a
 * hook may replace the raw request itself.
 */
const probed = new WeakMap<FastifyRequest, ProbedRequest>()

/** A request whose constraint was answered late begins after its probe has ended. */
export function isProbed(request: FastifyRequest): boolean {
  return request.raw instanceof ProbedRequest || probed.has(request)
}

export interface ProbeEnd {
  /** The url of its route. Undefined if no route matched. */
  readonly url: string | undefined
  /** Null if no route matched, or if the guard did not find the policy. */
  readonly policy: Policy | null
  /** Null if the guard let the request through, or does not cover its route. */
  readonly error: AuthError | null
}

/** A probed request that the router gave to a route outside of every guard. Nothing of it ran. */
export class ProbeStopped extends Error {
  readonly end: ProbeEnd

  constructor(end: ProbeEnd) {
    super('the router gave the request to a route that no guard covers')
    this.end = end
  }
}

const probeEnds = new WeakMap<object, ProbeEnd>()

/** Undefined if something else than the guard has answered. */
export function probeEndOf(raw: object): ProbeEnd | undefined {
  return probeEnds.get(raw)
}

/**
 * The callback of the last gate for a probed request: an answer in the handler's place. So neither
 * the handler nor a hook of the route runs, even if the guard decides wrongly.
 */
export function doneInPlace(
  request: FastifyRequest,
  reply: FastifyReply,
  done: HookHandlerDoneFunction,
  routes: Pick<RouteRegistry, 'policyOf'>,
): HookHandlerDoneFunction {
  return (error) => {
    if (error !== undefined) done(error)
    else answerInPlace(request, reply, routes.policyOf(request))
  }
}

/** The running probes of an application, by the prototype of its requests. */
const probing = new WeakMap<object, { count: number; readonly end: () => void }>()

/**
 * Runs a probe. Until it ends, no probed request reaches a handler: one that the router gives to a
 * route outside of every guard, or to no route there, is stopped before its first hook, and all
 * others have an answer in the place of their handler. Fastify assigns the raw request to each
 * request that it makes, of any route and application, before the first hook. That is the only
 * place that all of them pass, so that is where a probed one is known.
 *
 * @throws Error if this version of Fastify does not show its requests
 */
export async function whileProbing<T>(app: FastifyInstance, run: () => Promise<T>): Promise<T> {
  const prototype = commonPrototype(app)
  if (prototype === undefined) {
    throw new Error('probe: this version of Fastify does not show its requests: handlers might run')
  }
  hasProbes = true
  const probes = probing.get(prototype) ?? { count: 0, end: watchRaw(prototype) }
  probing.set(prototype, probes)
  probes.count += 1
  try {
    return await run()
  } finally {
    probes.count -= 1
    if (probes.count === 0) {
      probing.delete(prototype)
      probes.end()
    }
  }
}

/**
 * Another copy of this package may watch, too, and end in any order. Its setter is called, and
 * stays if it is on top.
 */
function watchRaw(prototype: object): () => void {
  const before = Object.getOwnPropertyDescriptor(prototype, 'raw')
  const set = function (this: FastifyRequest, raw: unknown): void {
    setRaw.call(this, raw)
    before?.set?.call(this, raw)
  }
  Object.defineProperty(prototype, 'raw', { configurable: true, set })
  return () => {
    if (Object.getOwnPropertyDescriptor(prototype, 'raw')?.set !== set) return
    if (before === undefined) Reflect.deleteProperty(prototype, 'raw')
    else Object.defineProperty(prototype, 'raw', before)
  }
}

function setRaw(this: FastifyRequest, raw: unknown): void {
  // An assignment would do the same if there were no setter.
  const property = { value: raw, writable: true, enumerable: true, configurable: true }
  Object.defineProperty(this, 'raw', property)
  if (!(raw instanceof ProbedRequest)) return
  probed.set(this, raw)
  const isCovered = guardedScopes(this.server).some((scope) => isWithin(scope, this.server))
  if (!isCovered) throw new ProbeStopped(noteProbeEnd(this, null, null))
  replaceHandlers(this)
}

/** Replaces the handler of the route, and the not-found handler that a hook may call instead. */
function replaceHandlers(request: FastifyRequest): void {
  const key = contextKey(request)
  if (key === undefined) return
  let context = withoutHandler(Reflect.get(request, key))
  Object.defineProperty(request, key, {
    get: () => context,
    set: (next: unknown) => {
      context = withoutHandler(next)
    },
  })
}

function withoutHandler(context: unknown): unknown {
  if (!isContext(context)) return context
  const handler = (request: FastifyRequest, reply: FastifyReply) =>
    answerInPlace(request, reply, null)
  aliasHandler(context.handler, handler)
  return Object.create(context, { handler: { value: handler, writable: true } })
}

function answerInPlace(request: FastifyRequest, reply: FastifyReply, policy: Policy | null): void {
  if (probeEndOf(rawOf(request)) === undefined) noteProbeEnd(request, policy, null)
  reply.code(request.is404 ? 404 : 204).send()
}

export function noteProbeEnd(
  request: FastifyRequest,
  policy: Policy | null,
  error: AuthError | null,
): ProbeEnd {
  const end = { url: request.routeOptions.url, policy, error }
  probeEnds.set(rawOf(request), end)
  return end
}

function rawOf(request: FastifyRequest): object {
  return probed.get(request) ?? request.raw
}
