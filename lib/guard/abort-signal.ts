import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type {
  FastifyRequest,
  RawRequestDefaultExpression,
  RawServerBase,
  RouteGenericInterface,
} from 'fastify'
import type { AuthError } from '../errors.ts'
import { denialRefusal } from '../identity/authentication/revocation-check.ts'
import { type TokenInfo, tokenInfo } from '../identity/jwt/token-info.ts'
import { tokenRefusal } from '../identity/jwt/token-refusal.ts'
import { clock } from '../platform/runtime/clock.ts'
import { Alarm } from '../platform/runtime/timer.ts'
import { runInContext } from './async-context.ts'
import {
  type AuthContext,
  admittedContextOf,
  authContextOf,
  type DecisionState,
} from './context.ts'
import { servesSuspended, suspendedRefusal } from './decide.ts'

const signals = new WeakMap<AuthContext, AbortSignal>()

/**
 * A signal that is aborted when the request would not be let through any more: when its token has
 * expired (`expiresAt` and the tolerance), or is revoked, if a deny list is `isRevoked`, and when a
 * later question says that its tenant is suspended. A right that is taken away ends none. For
 * sockets, streams and long queries. Its reason is the error that a new request would get.
 *
 * The wait ends with the response or its connection. A guest, and a request without a guard
 * (`noauth`), has a signal that is never aborted; one that is not let through, or not yet, has one
 * that is. After the end each call returns a signal of its own, which fires at once for its
 * listeners.
 *
 * @throws TypeError between onRequest and the last gate of a route that is `late`
 */
export function signalOf<
  RouteGeneric extends RouteGenericInterface,
  RawServer extends RawServerBase,
  RawRequest extends RawRequestDefaultExpression<RawServer>,
>(request: FastifyRequest<RouteGeneric, RawServer, RawRequest>): AbortSignal
export function signalOf(request: FastifyRequest): AbortSignal {
  const context = admittedContextOf(request)
  return withLateListeners(signalFor(request, context), context)
}

/** A signal whose listeners are called even if it is aborted already. */
export function withLateListeners(
  signal: AbortSignal,
  context: DecisionState | undefined,
): AbortSignal {
  if (!signal.aborted) return signal
  // Listeners of a signal that is aborted already, as after a slow hook, would never be called.
  // Earlier listeners have another signal.
  const late = AbortSignal.abort(signal.reason)
  queueMicrotask(() => runInContext(context, () => late.dispatchEvent(new Event('abort'))))
  return late
}

function signalFor(request: FastifyRequest, context: AuthContext | undefined): AbortSignal {
  // A guest has nothing that could end.
  if (context?.isGuest) return new AbortController().signal
  if (context !== undefined) return signals.get(context) ?? waitingSignal(context)
  const undecided = authContextOf(request)
  // A stream that ends by it would be empty, without a reason.
  if (undecided?.policy.late && undecided.error === null) {
    throw new TypeError('signalOf: the route is late, so its request is decided at preHandler')
  }
  return undecided === null ? new AbortController().signal : AbortSignal.abort()
}

function waitingSignal(context: AuthContext): AbortSignal {
  const end = new AdmissionSignal(context)
  signals.set(context, end.signal)
  onResponseEnd(context.request.raw, context.reply.raw, () => end.stop())
  return end.signal
}

/** Milliseconds between two checks of the wall clock, which may be set. */
const CHECK_INTERVAL = 60_000

/** Ends a signal when its request would not be let through any more. */
export class AdmissionSignal {
  readonly #controller = new AbortController()
  readonly #alarm = new Alarm(() => this.#look())
  /** Milliseconds since the epoch. */
  readonly #endsAt: number
  readonly #unwatch: (() => void)[] = []
  readonly #context: DecisionState

  constructor(context: DecisionState) {
    const { verified, rules } = context
    this.#context = context
    this.#endsAt = endOf(context)
    this.#look()
    this.#watchTenant()
    // In dev mode there is no token.
    if (verified === null || this.signal.aborted) return
    const { names, lifetime, isOpaque } = verified
    const token = tokenInfo(names, lifetime, isOpaque)
    this.#stopBy(rules.watchRevocation?.(token, () => this.#endByDenial(token)))
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  stop(): void {
    this.#alarm.stop()
    for (const unwatch of this.#unwatch.splice(0)) unwatch()
  }

  #look(): void {
    const left = this.#endsAt - Date.now()
    if (left <= 0) this.abort(tokenRefusal('expired'))
    else this.#alarm.set(clock.now() + Math.min(left, CHECK_INTERVAL))
  }

  /** A tenant may be suspended while its members stream from it. */
  #watchTenant(): void {
    const { membership, rules } = this.#context
    if (membership === null || membership.tenant === null) return
    if (membership.principal.isSuperuser || servesSuspended(this.#context)) return
    const end = () => this.abort(suspendedRefusal())
    this.#stopBy(rules.knownTenants.watch(membership.tenant, end))
  }

  /** The watched thing may have ended the signal at once. */
  #stopBy(unwatch: (() => void) | undefined): void {
    if (this.signal.aborted) unwatch?.()
    else if (unwatch !== undefined) this.#unwatch.push(unwatch)
  }

  /** As a new request: where an entry found no room, nobody knows whether it is refused or not. */
  #endByDenial(token: TokenInfo): void {
    const { principal, rules } = this.#context
    const denied = rules.denies && denialRefusal(rules.denies, principal?.sub ?? '', token)
    this.abort(denied ?? tokenRefusal('revoked'))
  }

  abort(error: AuthError): void {
    this.stop()
    // The code that adds an entry to a deny list may run under another authorization.
    runInContext(this.#context, () => this.#controller.abort(error))
  }
}

/**
 * Milliseconds since the epoch. The tolerance is for the clock that `exp` was read from: the age of
 * an answer is measured here.
 */
function endOf({ membership, verified, rules }: DecisionState): number {
  const tolerance = verified?.lifetime.exp === undefined ? 0 : rules.clockTolerance
  return (membership?.principal.expiresAt.getTime() ?? 0) + tolerance * 1000
}

// Outside: Node reports the end of a response by its connection. A response that waits behind
// others has none yet, and gets no event if the connection ends before its turn.

/** The functions that wait for the end of a connection. One listener for all avoids a warning. */
const waiting = new WeakMap<Socket, Set<() => void>>()

/**
 * Calls a function once when a response, or its connection, has ended; at once if it has. A request
 * of `injectWS` of @fastify/websocket has no connection.
 */
export function onResponseEnd(
  { socket }: Partial<Pick<IncomingMessage, 'socket'>>,
  response: ServerResponse,
  run: () => void,
): void {
  if (response.destroyed || response.writableFinished || socket?.destroyed) {
    run()
    return
  }
  if (response.socket !== null || socket === undefined) {
    response.once('close', run)
    return
  }
  const together = waiting.get(socket) ?? waitFor(socket)
  together.add(run)
  response.once('close', () => {
    if (together.delete(run)) run()
  })
}

function waitFor(socket: Socket): Set<() => void> {
  const together = new Set<() => void>()
  waiting.set(socket, together)
  socket.once('close', () => {
    for (const run of together) run()
    together.clear()
  })
  return together
}
