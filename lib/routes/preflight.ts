import type { FastifyInstance, FastifyRequest, preParsingHookHandler, RouteOptions } from 'fastify'
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

/** Puts the gate into the routes of a scope that take preflights. */
export function gatePreflights(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    if ([route.method].flat().includes('OPTIONS')) route.preParsing = [gate, ...own(route)]
  })
}

/** Whether @fastify/cors is in a scope, or in one around it. */
export function isCorsIn(scope: FastifyInstance): boolean {
  return scope.hasPlugin('@fastify/cors')
}

/**
 * Whether preflights of a route may wait for @fastify/cors, and cannot pass the gate. Asked when
 * every plugin has loaded: a later `onRoute` hook may have put its own hooks in place of the gate.
 */
export function canHoldBackPreflights(route: GatedRoute, scope: FastifyInstance): boolean {
  return isCorsIn(scope) && own(route).includes(gate)
}

type GatedRoute = Pick<RouteOptions, 'preParsing'>

function own({ preParsing = [] }: GatedRoute): preParsingHookHandler[] {
  return [preParsing].flat()
}
