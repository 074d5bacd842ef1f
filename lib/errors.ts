import { AuthError, type Challenge, type Mismatch } from './auth-error.ts'

export { AuthError, type Challenge, type Mismatch } from './auth-error.ts'
export {
  ERR_AUTH_INTROSPECTION_UNAVAILABLE,
  ERR_AUTH_ISSUERS_UNAVAILABLE,
  ERR_AUTH_KEYS_UNAVAILABLE,
  ERR_AUTH_RESOURCES_UNAVAILABLE,
  ERR_AUTH_REVOCATION_UNAVAILABLE,
  ERR_AUTH_TENANTS_UNAVAILABLE,
} from './unavailable.ts'

/**
 * 401: no credentials, an empty header, or a scheme that does not work here. The challenge has no
 * error code, because no token was tried (RFC 6750 §3.1).
 */
export class ERR_AUTH_TOKEN_MISSING extends AuthError {
  readonly code = 'ERR_AUTH_TOKEN_MISSING'
  readonly statusCode = 401

  constructor(reason?: string) {
    super('Authentication is required', reason)
  }

  override get challenge(): Challenge {
    return {}
  }
}

/**
 * 401: the header or `tokenFrom` brought something in a bearer token's place, and it cannot be
 * accepted. All reasons give the same answer (RFC 6750 §3.1 `invalid_token`).
 */
export class ERR_AUTH_TOKEN_INVALID extends AuthError {
  readonly code = 'ERR_AUTH_TOKEN_INVALID'
  readonly statusCode = 401
  readonly #mismatch: (() => Mismatch) | undefined

  /** `mismatch` makes the texts when they are read, because most logs do not show them. */
  constructor(reason?: string, mismatch?: () => Mismatch) {
    super('The access token is not valid', reason)
    this.#mismatch = mismatch
  }

  override get challenge(): Challenge {
    return { error: 'invalid_token' }
  }

  /**
   * Which part of the token was not as expected, if that is the reason; undefined otherwise. For
   * the log; never part of a response.
   */
  get mismatch(): Mismatch | undefined {
    return this.#mismatch?.()
  }
}

/**
 * 403: the user may not act for this tenant, whether it exists or not (RFC 6750 §3.1
 * `insufficient_scope`).
 */
export class ERR_AUTH_TENANT_FORBIDDEN extends AuthError {
  readonly code = 'ERR_AUTH_TENANT_FORBIDDEN'
  readonly statusCode = 403

  constructor(reason?: string) {
    super('Access to this tenant is not permitted', reason)
  }

  override get challenge(): Challenge {
    return { error: 'insufficient_scope' }
  }
}

/**
 * 403: the user lacks a required resource. The challenge's `scope` names what is required (RFC 6750
 * §3).
 */
export class ERR_AUTH_RESOURCE_MISSING extends AuthError {
  readonly code = 'ERR_AUTH_RESOURCE_MISSING'
  readonly statusCode = 403
  readonly #required: readonly string[]

  constructor(required: readonly string[], reason?: string) {
    super('A required resource is missing', reason)
    this.#required = required
  }

  override get challenge(): Challenge {
    return { error: 'insufficient_scope', scope: this.#required }
  }
}

/** 400: the request must name a tenant and names none. */
export class ERR_AUTH_TENANT_MISSING extends AuthError {
  readonly code = 'ERR_AUTH_TENANT_MISSING'
  readonly statusCode = 400

  constructor(reason?: string) {
    super('A tenant is required', reason)
  }
}

/**
 * 400: the request names a tenant in a form that no tenant's name has. It is empty, repeated, too
 * long or the like.
 */
export class ERR_AUTH_TENANT_INVALID extends AuthError {
  readonly code = 'ERR_AUTH_TENANT_INVALID'
  readonly statusCode = 400

  constructor(reason?: string) {
    super('The tenant is not valid', reason)
  }
}

/** 404: the user may act for the tenant, but it does not exist. */
export class ERR_AUTH_TENANT_UNKNOWN extends AuthError {
  readonly code = 'ERR_AUTH_TENANT_UNKNOWN'
  readonly statusCode = 404

  constructor(reason?: string) {
    super('The tenant does not exist', reason)
  }
}

/**
 * At boot: an option or an INI key cannot be used. The message names the key, what was expected,
 * what was found, and where.
 */
export class ERR_AUTH_CONFIG_INVALID extends AuthError {
  readonly code = 'ERR_AUTH_CONFIG_INVALID'
  readonly statusCode = 500
}

/** At boot: a route contradicts itself. The message names method, url and the contradiction. */
export class ERR_AUTH_ROUTE_INVALID extends AuthError {
  readonly code = 'ERR_AUTH_ROUTE_INVALID'
  readonly statusCode = 500
}
