/**
 * The content of a challenge (RFC 6750 §3). How it is written in a header is decided in
 * `guard/error-response`.
 */
export interface Challenge {
  /** Absent if no credentials were tried. */
  readonly error?:
    | 'invalid_token'
    | 'invalid_dpop_proof'
    | 'insufficient_scope'
    | 'insufficient_user_authentication'
  /** The resource ids that are required; absent if they are not what is wrong. */
  readonly scope?: readonly string[]
  /** The login that is wanted (RFC 9470 §3); absent if it is not what is wrong. */
  readonly stepUp?: StepUp
}

/** The kind and the age of the login that a user must have. */
export interface StepUp {
  /** Values of `acr`, any of which will do, in order of preference; empty: of any kind. */
  readonly acr: readonly string[]
  /** Seconds since the login at most; null: at any time. */
  readonly maxAge: number | null
}

/**
 * The expected value of a refused token's claim, and the one that was found. For the log alone. The
 * texts are frozen, short and in printable ASCII, so they do no harm in a terminal.
 */
export interface Mismatch {
  readonly of: 'iss' | 'aud' | 'kid' | 'alg' | 'typ' | 'htm' | 'htu' | 'iat'
  readonly expected: string
  /** The token's own value, which is not verified; the text says so too. */
  readonly unverified: string
}

/**
 * Every way to say no. The wire text of each error is constant: a response never holds a token, a
 * claim, a tenant's name or the words of a library. `reason` says why exactly, and is for the log
 * alone.
 */
export abstract class AuthError extends Error {
  /** Stable and machine-readable: the name of the class. */
  abstract readonly code: string

  /** The HTTP status that the error is answered with. */
  abstract readonly statusCode: number

  readonly #reason: string

  constructor(message: string, reason = message) {
    super(message)
    this.#reason = reason
  }

  // Getters are on the prototype: serializers copy an error's own fields, and must not copy these.
  // They are read of copies too: Fastify serializes an object that has the error as its prototype.

  override get name(): string {
    return 'AuthError'
  }

  /** The same as `statusCode`, under the name that http-errors uses. Some frameworks read it. */
  get status(): this['statusCode'] {
    return this.statusCode
  }

  /** True below 500: the message may be shown to the client, as http-errors defines it. */
  get expose(): boolean {
    return this.statusCode < 500
  }

  /**
   * The reason in constant words. For the log; never part of a response. Empty on an object that
   * only inherits from the error, as Fastify makes.
   */
  get reason(): string {
    return #reason in this ? this.#reason : ''
  }

  /** The fault of the client's credentials; null if other credentials would not help. */
  get challenge(): Challenge | null {
    return null
  }

  /** Seconds until another attempt may succeed; null if waiting does not help. */
  get retryAfter(): number | null {
    return null
  }
}
