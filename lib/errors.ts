import { AuthError, type Challenge, type Mismatch, type StepUp } from './auth-error.ts'

export { AuthError, type Challenge, type Mismatch, type StepUp } from './auth-error.ts'

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
 * accepted. All reasons give the same answer (RFC 6750 §3.1 `invalid_token`), but for a DPoP proof
 * that is bad or missing (RFC 9449 §7.1 `invalid_dpop_proof`).
 */
export class ERR_AUTH_TOKEN_INVALID extends AuthError {
  readonly code = 'ERR_AUTH_TOKEN_INVALID'
  readonly statusCode = 401
  readonly #mismatch: (() => Mismatch) | undefined
  readonly #error: 'invalid_token' | 'invalid_dpop_proof'

  /** `mismatch` makes the texts when they are read, because most logs do not show them. */
  constructor(
    reason?: string,
    mismatch?: () => Mismatch,
    error: 'invalid_token' | 'invalid_dpop_proof' = 'invalid_token',
  ) {
    super('The access token is not valid', reason)
    this.#mismatch = mismatch
    this.#error = error
  }

  override get challenge(): Challenge {
    return { error: #error in this ? this.#error : 'invalid_token' }
  }

  /**
   * Which part of the token was not as expected, if that is the reason; undefined otherwise. For
   * the log; never part of a response.
   */
  get mismatch(): Mismatch | undefined {
    return #mismatch in this ? this.#mismatch?.() : undefined
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
    return { error: 'insufficient_scope', ...(#required in this && { scope: this.#required }) }
  }
}

/**
 * 401: the user has to log in again, in another way or more lately (RFC 9470 §3
 * `insufficient_user_authentication`). The challenge says how.
 */
export class ERR_AUTH_STEP_UP_REQUIRED extends AuthError {
  readonly code = 'ERR_AUTH_STEP_UP_REQUIRED'
  readonly statusCode = 401
  readonly #required: StepUp

  constructor(required: StepUp, reason?: string) {
    super('A new login is required', reason)
    this.#required = required
  }

  override get challenge(): Challenge {
    const error = 'insufficient_user_authentication'
    return #required in this ? { error, stepUp: this.#required } : { error }
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

  constructor(reason?: string, message = 'The tenant is not valid') {
    super(message, reason)
  }
}

/** 404: the user may act for the tenant, but it does not exist. */
export class ERR_AUTH_TENANT_UNKNOWN extends AuthError {
  readonly code = 'ERR_AUTH_TENANT_UNKNOWN'
  readonly statusCode = 404

  constructor(reason?: string, message = 'The tenant does not exist') {
    super(message, reason)
  }
}

/**
 * 403: the tenant is suspended, and the route does not serve it. There is no challenge, because
 * other credentials would not help.
 */
export class ERR_AUTH_TENANT_SUSPENDED extends AuthError {
  readonly code = 'ERR_AUTH_TENANT_SUSPENDED'
  readonly statusCode = 403

  constructor(reason?: string, message = 'The tenant is suspended') {
    super(message, reason)
  }
}

/** 403: a check of the route does not hold. Other credentials need not help. */
export class ERR_AUTH_NOT_PERMITTED extends AuthError {
  readonly code = 'ERR_AUTH_NOT_PERMITTED'
  readonly statusCode = 403

  constructor(reason?: string) {
    super('This is not permitted', reason)
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

/** 503: something that the decision rests on cannot be had now. */
abstract class Unavailable extends AuthError {
  readonly statusCode = 503
  readonly #retryAfter: number

  /** `retryAfter` in seconds. */
  constructor(message: string, retryAfter: number, reason?: string) {
    super(message, reason)
    // Code in JavaScript may give none.
    this.#retryAfter = retryAfter ?? 1
  }

  override get retryAfter(): number {
    return #retryAfter in this ? this.#retryAfter : 1
  }
}

/**
 * 503: no usable key set can be had now. A 401 would make clients throw good tokens away (RFC 9110
 * §15.6.4).
 */
export class ERR_AUTH_KEYS_UNAVAILABLE extends Unavailable {
  readonly code = 'ERR_AUTH_KEYS_UNAVAILABLE'

  constructor(retryAfter: number, reason?: string) {
    super('Tokens cannot be verified now', retryAfter, reason)
  }
}

/** 503: the tenant that is meant, or whether it exists, cannot be found out now. */
export class ERR_AUTH_TENANTS_UNAVAILABLE extends Unavailable {
  readonly code = 'ERR_AUTH_TENANTS_UNAVAILABLE'

  constructor(retryAfter: number, reason?: string) {
    super('Tenants cannot be checked now', retryAfter, reason)
  }
}

/** 503: it cannot be found out now whether the user's rights are revoked. */
export class ERR_AUTH_REVOCATION_UNAVAILABLE extends Unavailable {
  readonly code = 'ERR_AUTH_REVOCATION_UNAVAILABLE'

  constructor(retryAfter: number, reason?: string) {
    super('Revocation cannot be checked now', retryAfter, reason)
  }
}

/** 503: whether the token's issuer is trusted cannot be found out now. */
export class ERR_AUTH_ISSUERS_UNAVAILABLE extends Unavailable {
  readonly code = 'ERR_AUTH_ISSUERS_UNAVAILABLE'

  constructor(retryAfter: number, reason?: string) {
    super('Issuers cannot be checked now', retryAfter, reason)
  }
}

/** 503: what a token that is no JWT stands for cannot be found out now. */
export class ERR_AUTH_INTROSPECTION_UNAVAILABLE extends Unavailable {
  readonly code = 'ERR_AUTH_INTROSPECTION_UNAVAILABLE'

  constructor(retryAfter: number, reason?: string) {
    super('Tokens cannot be introspected now', retryAfter, reason)
  }
}

/** 503: what the user may do cannot be found out now. */
export class ERR_AUTH_RESOURCES_UNAVAILABLE extends Unavailable {
  readonly code = 'ERR_AUTH_RESOURCES_UNAVAILABLE'

  constructor(retryAfter: number, reason?: string) {
    super('Rights cannot be checked now', retryAfter, reason)
  }
}

/** 503: whether the sender of a bound token holds its key cannot be found out now. */
export class ERR_AUTH_PROOFS_UNAVAILABLE extends Unavailable {
  readonly code = 'ERR_AUTH_PROOFS_UNAVAILABLE'

  constructor(retryAfter: number, reason?: string) {
    super('Proofs cannot be checked now', retryAfter, reason)
  }
}

/** 503: a check of the route cannot be made now. */
export class ERR_AUTH_CHECK_UNAVAILABLE extends Unavailable {
  readonly code = 'ERR_AUTH_CHECK_UNAVAILABLE'

  constructor(retryAfter: number, reason?: string) {
    super('Permission cannot be checked now', retryAfter, reason)
  }
}

const WITH_GETTERS = [
  AuthError,
  ERR_AUTH_TOKEN_MISSING,
  ERR_AUTH_TOKEN_INVALID,
  ERR_AUTH_TENANT_FORBIDDEN,
  ERR_AUTH_RESOURCE_MISSING,
  ERR_AUTH_STEP_UP_REQUIRED,
  Unavailable,
]

// http-errors and error handlers of applications write to errors, and may not fail over a getter.
// The setter makes a member of the error's own.
for (const { prototype } of WITH_GETTERS) {
  for (const [name, { get }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
    if (get === undefined) continue
    const set = function (this: AuthError, value: unknown): void {
      Object.defineProperty(this, name, { value, writable: true, configurable: true })
    }
    Object.defineProperty(prototype, name, { get, set, configurable: true })
  }
}
