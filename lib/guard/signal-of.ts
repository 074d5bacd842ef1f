import type {
  FastifyRequest,
  RawRequestDefaultExpression,
  RawServerBase,
  RouteGenericInterface,
} from 'fastify'
import { onResponseEnd } from '../outside/response-end.ts'
import { AdmissionEnd } from './admission-end.ts'
import { underContextOf } from './async-context.ts'
import { type Access, accessOf, decisionOf } from './decision.ts'

const signals = new WeakMap<Access, AbortSignal>()

/**
 * A signal that is aborted when the request would not be let through any more: when its token has
 * expired (`expiresAt` and the tolerance), or is revoked, where a deny list is `isRevoked`. For
 * sockets, streams and long queries. Its reason is the error that a new request would get.
 *
 * The wait ends with the response or its connection. A request without a guard (`noauth`) has a
 * signal that is never aborted; one that is not let through, or not yet, has one that is. After the
 * end each call gives a signal of its own, which tells those who listen to it at once.
 */
export function signalOf<
  RouteGeneric extends RouteGenericInterface,
  RawServer extends RawServerBase,
  RawRequest extends RawRequestDefaultExpression<RawServer>,
>(request: FastifyRequest<RouteGeneric, RawServer, RawRequest>): AbortSignal
export function signalOf(request: FastifyRequest): AbortSignal {
  const access = accessOf(request)
  const signal = signalFor(request, access)
  if (!signal.aborted) return signal
  // Who only listens would never hear of an end that came before, as during a slow hook. Those who
  // have heard of it listen to another signal.
  const late = AbortSignal.abort(signal.reason)
  queueMicrotask(() => underContextOf(access, () => late.dispatchEvent(new Event('abort'))))
  return late
}

function signalFor(request: FastifyRequest, access: Access | undefined): AbortSignal {
  if (access !== undefined) return signals.get(access) ?? waitingSignal(access)
  return decisionOf(request) === null ? new AbortController().signal : AbortSignal.abort()
}

function waitingSignal(access: Access): AbortSignal {
  const end = new AdmissionEnd(access)
  signals.set(access, end.signal)
  onResponseEnd(access.asked.request.raw, access.asked.reply.raw, () => end.letGo())
  return end.signal
}
