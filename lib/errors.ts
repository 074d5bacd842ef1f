/**
 * Every way to say no. The wire text of each error is constant: no token, no claim, no tenant and no
 * library's words ever reach a response. Why exactly is in `reason`, which is for the log alone.
 */
export abstract class AuthError extends Error {
  /** Stable and machine-readable: the name of the class. */
  abstract readonly code: string

  /** The HTTP status that the error is answered with. */
  abstract readonly statusCode: number

  /** Response headers that belong to the error, names in lower case; absent where there are none. */
  readonly headers?: Readonly<Record<string, string>>

  readonly #reason: string

  constructor(message: string, reason = message, headers?: Record<string, string>) {
    super(message)
    this.#reason = reason
    if (headers) this.headers = Object.freeze(headers)
  }

  // On the prototype, so that no serializer of an application copies them with the error's own fields.
  override get name(): string {
    return 'AuthError'
  }

  /** Why exactly, in constant words. For the log; never part of a response. */
  get reason(): string {
    return this.#reason
  }
}

/** 401: no credentials, an empty header, or another scheme. No error code in the challenge, since none was tried (RFC 6750 §3.1). */
export class ERR_AUTH_TOKEN_MISSING extends AuthError {
  readonly code = 'ERR_AUTH_TOKEN_MISSING'
  readonly statusCode = 401

  constructor(realm: string, reason?: string) {
    super('Authentication is required', reason, challenge(realm))
  }
}

/** 401: a bearer token was sent and cannot be accepted, whatever is wrong with it (RFC 6750 §3.1 `invalid_token`). */
export class ERR_AUTH_TOKEN_INVALID extends AuthError {
  readonly code = 'ERR_AUTH_TOKEN_INVALID'
  readonly statusCode = 401

  constructor(realm: string, reason?: string) {
    super('The access token is not valid', reason, challenge(realm, 'error="invalid_token"'))
  }
}

/** 403: the user may not act for this tenant, whether it exists or not (RFC 6750 §3.1 `insufficient_scope`). */
export class ERR_AUTH_TENANT_FORBIDDEN extends AuthError {
  readonly code = 'ERR_AUTH_TENANT_FORBIDDEN'
  readonly statusCode = 403

  constructor(realm: string, reason?: string) {
    const headers = challenge(realm, 'error="insufficient_scope"')
    super('Access to this tenant is not permitted', reason, headers)
  }
}

/** 403: the user lacks a required resource. The challenge's `scope` names what is required (RFC 6750 §3). */
export class ERR_AUTH_RESOURCE_MISSING extends AuthError {
  readonly code = 'ERR_AUTH_RESOURCE_MISSING'
  readonly statusCode = 403

  constructor(realm: string, required: readonly string[], reason?: string) {
    const scope = required.length > 0 ? [`scope="${required.join(' ')}"`] : []
    const headers = challenge(realm, 'error="insufficient_scope"', ...scope)
    super('A required resource is missing', reason, headers)
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

/** 400: the request names a tenant in a form that no tenant's name has: empty, repeated, too long … */
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

/** 503: no usable key set can be had now. A 401 would make clients throw good tokens away (RFC 9110 §15.6.4). */
export class ERR_AUTH_KEYS_UNAVAILABLE extends AuthError {
  readonly code = 'ERR_AUTH_KEYS_UNAVAILABLE'
  readonly statusCode = 503

  constructor(retryAfter: number, reason?: string) {
    super('Tokens cannot be verified now', reason, retryLater(retryAfter))
  }
}

/** 503: which tenant is meant, or whether it exists, cannot be found out now. */
export class ERR_AUTH_TENANTS_UNAVAILABLE extends AuthError {
  readonly code = 'ERR_AUTH_TENANTS_UNAVAILABLE'
  readonly statusCode = 503

  constructor(retryAfter: number, reason?: string) {
    super('Tenants cannot be checked now', reason, retryLater(retryAfter))
  }
}

/** 503: whether the user's rights are revoked cannot be found out now. */
export class ERR_AUTH_REVOCATION_UNAVAILABLE extends AuthError {
  readonly code = 'ERR_AUTH_REVOCATION_UNAVAILABLE'
  readonly statusCode = 503

  constructor(retryAfter: number, reason?: string) {
    super('Revocation cannot be checked now', reason, retryLater(retryAfter))
  }
}

/** At boot: an option or an INI key cannot be used. The message names the key, what was expected, what was found and where. */
export class ERR_AUTH_CONFIG_INVALID extends AuthError {
  readonly code = 'ERR_AUTH_CONFIG_INVALID'
  readonly statusCode = 500
}

/** At boot: a route contradicts itself. The message names method, url and the contradiction. */
export class ERR_AUTH_ROUTE_INVALID extends AuthError {
  readonly code = 'ERR_AUTH_ROUTE_INVALID'
  readonly statusCode = 500
}

/** RFC 6750 §3: `WWW-Authenticate: Bearer realm="…", error="…", scope="…"`, the realm as a quoted-string (RFC 9110 §5.6.4). */
function challenge(realm: string, ...parameters: string[]): Record<string, string> {
  const quoted = realm.replaceAll(/["\\]/g, '\\$&')
  return {
    'www-authenticate': [`Bearer realm="${quoted}"`, ...parameters].join(', '),
  }
}

/** RFC 9110 §10.2.3: whole seconds until the next attempt, at least 1. */
function retryLater(seconds: number): Record<string, string> {
  return { 'retry-after': String(Math.max(1, Math.ceil(seconds))) }
}
