import type {
  FastifyRequest,
  RawRequestDefaultExpression,
  RawServerBase,
  RouteGenericInterface,
} from 'fastify'
import type { AuthError } from '../errors.ts'
import type { Authorization } from '../rights/authorization.ts'
import { isTenantName } from '../tenants/tenant-name.ts'
import { type Asked, tenantInUrl } from './decide.ts'
import { decisionOf } from './request-access.ts'

/** A request that the guard refused: what is wrong, who asked, and for which tenant. */
export interface Refusal {
  readonly error: AuthError
  /** That of the user without a tenant; null where the request was not authenticated. */
  readonly authorization: Authorization | null
  /** The valid name that was asked for, whether or not such a tenant exists. */
  readonly tenant: string | null
}

/** A decision that refused the request. */
export class Refused {
  readonly error: AuthError
  readonly asked: Asked

  constructor(error: AuthError, asked: Asked) {
    this.error = error
    this.asked = asked
  }
}

/** The refusal of a preflight that another plugin may still answer. */
export class HeldBack {
  readonly refused: Refused

  constructor(refused: Refused) {
    this.refused = refused
  }
}

/**
 * The refusal of any request that the guard refused, in `onError`, `onSend` and `onResponse`: for
 * audits. Null otherwise, where a handler called `require()` in vain too.
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
    tenant: asked.tenant ?? namedInUrl(asked),
  })
}

/**
 * Params and query may be any objects of the application's router and parser, with getters that
 * throw.
 */
function namedInUrl(asked: Asked): string | null {
  try {
    const name = tenantInUrl(asked)
    return isTenantName(name) ? name : null
  } catch {
    return null
  }
}
