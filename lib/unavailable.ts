import { AuthError } from './auth-error.ts'

/** 503: something that the decision rests on cannot be had now. */
abstract class Unavailable extends AuthError {
  readonly statusCode = 503
  readonly #retryAfter: number

  /** `retryAfter` in seconds. */
  constructor(message: string, retryAfter: number, reason?: string) {
    super(message, reason)
    this.#retryAfter = retryAfter
  }

  override get retryAfter(): number {
    return this.#retryAfter
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
