import type { FastifyInstance, FastifyRequest, preParsingHookHandler, RouteOptions } from 'fastify'
import type { Policy } from '../declaration/policy.ts'
import { HeldBack } from './refusal.ts'
import { decisionOf, setDecision } from './request-access.ts'

/**
 * Whether a request is a CORS preflight (Fetch §3.2.2) and can be nothing else: without credentials, and without
 * a body, which would be parsed on the way.
 */
export function isPreflight(request: FastifyRequest): boolean {
  if (request.method !== 'OPTIONS') return false
  const { headers } = request
  return (
    headers.origin !== undefined &&
    headers['access-control-request-method'] !== undefined &&
    headers.authorization === undefined &&
    headers['transfer-encoding'] === undefined &&
    headers['content-type'] === undefined &&
    (headers['content-length'] ?? '0') === '0'
  )
}

/**
 * Refuses a preflight that was held back and not answered. It runs after the hooks of the route's
 * scope, @fastify/cors among them, and before the route's own and its schema.
 */
const gate: preParsingHookHandler = function tenantAuthPreflightGate(
  request,
  _reply,
  payload,
  done,
) {
  const decision = decisionOf(request)
  if (decision instanceof HeldBack) {
    setDecision(request, decision.refused)
    done(decision.refused.error)
  } else done(null, payload)
}

/** Later than the gate. Before the guard even `preParsing` is too late, as nothing is held back there. */
const LATE_HOOKS = ['preValidation', 'preHandler', 'preSerialization']

/** What of a route's options concerns its preflights. */
export type GatedRoute = Pick<RouteOptions, 'preParsing'>

/** Which routes of a guarded scope may leave a refused preflight to @fastify/cors. */
export class Preflights {
  readonly #app: FastifyInstance
  /** Then it has answered already what it would. */
  readonly #isCorsBefore: boolean
  #isCorsAfter = false
  readonly #mayHoldBack = new WeakSet<Policy>()

  /** Puts the gate into the routes that are written from now on and take preflights. */
  constructor(app: FastifyInstance) {
    this.#app = app
    this.#isCorsBefore = isCorsIn(app)
    app.addHook('onRoute', (route) => {
      if ([route.method].flat().includes('OPTIONS')) route.preParsing = [gate, ...own(route)]
    })
  }

  /**
   * Decides for one route, when every plugin has loaded. @fastify/cors can answer where it is in the
   * scope of the route, and a later `onRoute` hook may have put its own hooks in place of the gate.
   */
  settle(policy: Policy, route: GatedRoute, scope: FastifyInstance): void {
    if (this.#isCorsBefore || !isCorsIn(scope)) return
    this.#isCorsAfter = true
    if (own(route).includes(gate)) this.#mayHoldBack.add(policy)
  }

  /** False for a route that `onRoute` did not see: its preflights are refused at once. */
  mayHoldBack(policy: Policy): boolean {
    return this.#mayHoldBack.has(policy)
  }

  /**
   * What to tell of @fastify/cors where it answers too late. Its hook is found in print by the name of
   * the function, so where another plugin has wrapped that there is no advice.
   */
  get advice(): string[] {
    if (!this.#isCorsBefore && !this.#isCorsAfter) return []
    const late = this.#isCorsBefore ? ['preParsing', ...LATE_HOOKS] : LATE_HOOKS
    const lines = this.#app.printRoutes({ method: 'OPTIONS', includeMeta: late }).split('\n')
    return late
      .filter((hook) =>
        lines.some((line) => line.includes(`• (${hook}) `) && line.includes('"handleCors()"')),
      )
      .map(
        (hook) =>
          `@fastify/cors answers on ${hook}, after the guard has refused a preflight; let it answer on onRequest`,
      )
  }
}

function isCorsIn(scope: FastifyInstance): boolean {
  return scope.hasPlugin('@fastify/cors')
}

function own({ preParsing = [] }: GatedRoute): preParsingHookHandler[] {
  return [preParsing].flat()
}
