import type {
  FastifyRequest,
  RawRequestDefaultExpression,
  RawServerBase,
  RouteGenericInterface,
} from 'fastify'
import type { AuthError } from '../errors.ts'
import type { Authorization } from '../rights/authorization.ts'
import { askedTenant } from './asked-tenant.ts'
import { decisionOf } from './decision.ts'
import { Refused } from './refused.ts'

/** A request that the guard refused: what is wrong, who asked, and for which tenant. */
export interface Refusal {
  readonly error: AuthError
  /** The authorization of the user without a tenant; null if the request was not authenticated. */
  readonly authorization: Authorization | null
  /** The valid name that was asked for. Such a tenant need not exist. */
  readonly tenant: string | null
}

/**
 * The refusal of a request that the guard refused, for audits; read it in `onError`, `onSend` or
 * `onResponse`. Null for any other request, also if a handler called `require()` and that refused.
 */
export function refusalOf<
  RouteGeneric extends RouteGenericInterface,
  RawServer extends RawServerBase,
  RawRequest extends RawRequestDefaultExpression<RawServer>,
>(request: FastifyRequest<RouteGeneric, RawServer, RawRequest>): Refusal | null
export function refusalOf(request: FastifyRequest): Refusal | null {
  const decision = decisionOf(request)
  if (!(decision instanceof Refused)) return null
  const { error, asked } = decision
  return Object.freeze({
    error,
    authorization: asked.principal?.in(null) ?? null,
    tenant: askedTenant(asked),
  })
}
