import type {
  FastifyRequest,
  RawRequestDefaultExpression,
  RawServerBase,
  RouteGenericInterface,
} from 'fastify'
import { onResponseEnd } from '../outside/response-end.ts'
import { AdmissionEnd } from './admission-end.ts'
import { type Access, accessOf, decisionOf } from './decision.ts'

const signals = new WeakMap<Access, AbortSignal>()

/**
 * A signal that is aborted when the request would not be let through any more: when its token has
 * expired (`expiresAt` and the tolerance), or is revoked, where a deny list is `isRevoked`. For
 * sockets, streams and long queries. Its reason is the error that a new request would get.
 *
 * The wait ends with the response or its connection. A request without a guard (`noauth`) has a
 * signal that is never aborted; one that is not let through, or not yet, has one that is. A signal
 * that is aborted already tells so once more, to listeners that are added at once.
 */
export function signalOf<
  RouteGeneric extends RouteGenericInterface,
  RawServer extends RawServerBase,
  RawRequest extends RawRequestDefaultExpression<RawServer>,
>(request: FastifyRequest<RouteGeneric, RawServer, RawRequest>): AbortSignal
export function signalOf(request: FastifyRequest): AbortSignal {
  const signal = signalFor(request)
  // Who only listens would never hear of an end that came before, as during a slow hook.
  if (signal.aborted) queueMicrotask(() => signal.dispatchEvent(new Event('abort')))
  return signal
}

function signalFor(request: FastifyRequest): AbortSignal {
  const access = accessOf(request)
  if (access !== undefined) return signals.get(access) ?? waitingSignal(access)
  return decisionOf(request) === null ? new AbortController().signal : AbortSignal.abort()
}

function waitingSignal(access: Access): AbortSignal {
  const end = new AdmissionEnd(access)
  signals.set(access, end.signal)
  onResponseEnd(access.asked.request.raw, access.asked.reply.raw, () => end.letGo())
  return end.signal
}
