import { finished } from 'node:stream'
import type {
  FastifyInstance,
  FastifyRequest,
  onRequestHookHandler,
  preParsingHookHandler,
} from 'fastify'
import type { Policy } from '../declaration/policy.ts'
import type { FinalOptions, WrittenRoute } from '../declaration/written-route.ts'
import type { AuthError } from '../errors.ts'
import { printedRoutes } from '../inspection/printed-routes.ts'
import { bindLog } from './bound-log.ts'
import { conclude } from './conclude.ts'
import { decisionOf, setDecision } from './decision.ts'
import { HeldBack, type Refused } from './refused.ts'

/**
 * Whether a request is a CORS preflight (Fetch §3.2.2) and nothing else. It has no credentials, and
 * no body that would be parsed on the way.
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
 * Lets a refused preflight go on to @fastify/cors. What becomes of it is known when a gate refuses
 * it, or when its response ends.
 */
export function holdBack(refused: Refused): void {
  const { asked, error } = refused
  const { request, reply } = asked
  const heldBack = new HeldBack(refused)
  setDecision(request, heldBack)
  if (asked.rules.logBindings !== undefined) bindLog(asked, asked.rules.logBindings)
  finished(reply.raw, () => {
    // Nobody let it through who refused it, or whose client went away before an answer.
    const isAnswered = reply.raw.headersSent && reply.raw.statusCode < 400
    if (decisionOf(request) === heldBack) conclude(asked, isAnswered ? null : error)
  })
}

/**
 * Hooks that run later than the gates. If @fastify/cors is before the guard, even `preParsing` is
 * too late: then the guard holds no preflight back.
 */
const LATE_HOOKS = ['preValidation', 'preHandler', 'preSerialization']

/**
 * Which routes of a guarded scope may leave a refused preflight to @fastify/cors. Gates refuse it
 * after the hooks of the route's scope, which include those of @fastify/cors. They refuse it before
 * the route's own hooks and its schema.
 */
export class Preflights {
  readonly #app: FastifyInstance
  /** True: @fastify/cors runs before the guard, and has answered already. */
  readonly #isCorsBefore: boolean
  #isCorsAfter = false
  /** Whether @fastify/cors answers at `preParsing`, or its hook is not known. */
  #mayAnswerLater = false
  readonly #mayHoldBack = new WeakSet<Policy>()

  constructor(app: FastifyInstance) {
    this.#app = app
    this.#isCorsBefore = isCorsIn(app)
  }

  /** Puts the gates into a route that takes preflights, before its own hooks. */
  keep(route: WrittenRoute): void {
    if (!route.methods.includes('OPTIONS')) return
    route.prependOnRequest(this.#gate)
    route.prependPreParsing(lastGate)
  }

  readonly #gate: onRequestHookHandler = (request, _reply, done) => {
    if (this.#mayAnswerLater) done()
    else refuseHeldBack(request, done)
  }

  /**
   * Decides for one route after every plugin has loaded. @fastify/cors can answer if it is in the
   * scope of the route. A later `onRoute` hook may have replaced the gates with hooks of its own.
   */
  settle(policy: Policy, { preParsing = [] }: FinalOptions, scope: FastifyInstance): void {
    if (this.#isCorsBefore || !isCorsIn(scope)) return
    this.#isCorsAfter = true
    if ([preParsing].flat().includes(lastGate)) this.#mayHoldBack.add(policy)
  }

  mayHoldBack(policy: Policy): boolean {
    return this.#mayHoldBack.has(policy)
  }

  /**
   * Finds out, after every plugin has loaded, on which hooks @fastify/cors answers. It looks for
   * the name of the function of @fastify/cors in the printed routes. If another plugin has wrapped
   * that function, no hook is found.
   *
   * @returns a warning for each hook on which it answers too late
   */
  inspect(): string[] {
    if (!this.#isCorsBefore && !this.#isCorsAfter) return []
    const found = ['onRequest', 'preParsing', ...LATE_HOOKS].filter((hooks) =>
      printedRoutes(this.#app, { hooks, methods: ['OPTIONS'] }).some((route) =>
        route.hooks.includes('handleCors'),
      ),
    )
    this.#mayAnswerLater = found.includes('preParsing') || found.length === 0
    const late = this.#isCorsBefore ? ['preParsing', ...LATE_HOOKS] : LATE_HOOKS
    return found
      .filter((kind) => late.includes(kind))
      .map(
        (kind) =>
          `@fastify/cors answers on ${kind}, after the guard has refused a preflight; let it answer on onRequest`,
      )
  }
}

const lastGate: preParsingHookHandler = function tenantAuthPreflightGate(
  request,
  _reply,
  payload,
  done,
) {
  refuseHeldBack(request, (error) => done(error ?? null, payload))
}

function refuseHeldBack(request: FastifyRequest, done: (error?: AuthError) => void): void {
  const decision = decisionOf(request)
  if (decision instanceof HeldBack) {
    const { asked, error } = decision.refused
    setDecision(request, decision.refused)
    conclude(asked, error)
    done(error)
  } else done()
}

function isCorsIn(scope: FastifyInstance): boolean {
  return scope.hasPlugin('@fastify/cors')
}
