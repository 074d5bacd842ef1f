/**
 * What a challenge tells the client (RFC 6750 §3). How it is written in a header is decided in
 * `guard/challenge`.
 */
export interface Challenge {
  /** Absent where no credentials were tried. */
  readonly error?: 'invalid_token' | 'insufficient_scope'
  /** The resource ids that are required; absent where they are not what is wrong. */
  readonly scope?: readonly string[]
}

/**
 * What was expected of a refused token, and what was found. For the log alone. The texts are
 * frozen, short and in printable ASCII, so they do no harm in a terminal.
 */
export interface Mismatch {
  readonly of: 'iss' | 'aud' | 'kid' | 'alg' | 'typ'
  readonly expected: string
  /** What the token itself says, which is not verified; the text says so too. */
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

  override get name(): string {
    return 'AuthError'
  }

  /** The same as `statusCode`, under the name that http-errors uses. Some frameworks read it. */
  get status(): this['statusCode'] {
    return this.statusCode
  }

  /** Whether the message may be shown to the client, as http-errors defines it: true below 500. */
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
