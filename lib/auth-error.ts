/**
 * What a challenge tells the client (RFC 6750 §3). How it is spelled in a header is not said here.
 */
export interface Challenge {
  /** Absent where no credentials were tried. */
  readonly error?: 'invalid_token' | 'insufficient_scope'
  /** The resource ids that are required. */
  readonly scope?: readonly string[]
}

/**
 * What was expected of a token that is refused, and what was found. For the log alone. Short texts
 * of printable ASCII, which can do no harm in a terminal; frozen.
 */
export interface Mismatch {
  readonly of: 'iss' | 'aud' | 'kid' | 'alg' | 'typ'
  readonly expected: string
  /** What a stranger's token says, and so marked. */
  readonly unverified: string
}

/**
 * Every way to say no. The wire text of each error is constant: no token, no claim, no tenant and
 * no library's words ever reach a response. Why exactly is in `reason`, which is for the log alone.
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

  override get name(): string {
    return 'AuthError'
  }

  /** The same as `statusCode`, for frameworks that read what http-errors has. */
  get status(): this['statusCode'] {
    return this.statusCode
  }

  /** Whether the message is for the client, as http-errors says: below 500. */
  get expose(): boolean {
    return this.statusCode < 500
  }

  /** Why exactly, in constant words. For the log; never part of a response. */
  get reason(): string {
    return this.#reason
  }

  /** What the client's credentials lack; null where other credentials would not help. */
  get challenge(): Challenge | null {
    return null
  }

  /** Seconds until another attempt may succeed; null where waiting does not help. */
  get retryAfter(): number | null {
    return null
  }
}

/** 503: something that the decision rests on cannot be had now. */
export abstract class Unavailable extends AuthError {
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
