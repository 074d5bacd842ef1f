import { hash } from 'node:crypto'
import {
  AuthError,
  ERR_AUTH_INTROSPECTION_UNAVAILABLE,
  ERR_AUTH_TOKEN_INVALID,
} from '../../errors.ts'
import { CachedCallback } from '../../platform/callbacks/cached-callback.ts'
import type { ReportFailure } from '../../platform/callbacks/call-with-timeout.ts'
import { RecentKeys } from '../../platform/callbacks/line.ts'
import type { PendingRequests } from '../../platform/callbacks/pending-requests.ts'
import { clock } from '../../platform/runtime/clock.ts'
import { isThrown, withoutStack } from '../../platform/runtime/error.ts'
import { after, attempt, type MaybePromise } from '../../platform/runtime/maybe-promise.ts'
import { ownProperty } from '../../platform/runtime/own-property.ts'
import { tokenRefusal } from '../jwt/token-refusal.ts'
import { type Invalidation, isInvalidated } from './authenticator.ts'
import type { Issuers } from './issuers.ts'
import type { JwtVerifier } from './jwt-verifier.ts'
import { type Answer, type OpaqueToken, readAnswer } from './opaque-answer.ts'
import type { Validity, Verified, VerifiedTokens } from './verified-tokens.ts'

interface OpaqueTokensRules {
  readonly opaqueToken: OpaqueToken
  /** In seconds, as `maxAge`. */
  readonly timeout: number
  readonly maxAge: number
  readonly maxTokenLength: number
  /** Tokens may name several issuers, of which none may use up all places. */
  readonly hasSeveralIssuers?: boolean
  readonly report?: ReportFailure
}

/** RFC 6750 §2.1: the characters of a bearer token. */
const BEARER_TOKEN = /^[A-Za-z0-9._~+/-]+=*$/

/** Tokens that nobody knows are asked for by strangers: few of them are kept, and not for long. */
const MOST_REFUSED = 1000
const REFUSED_FOR = 2

/** Milliseconds that an answer counts at least for those who asked for it, kept or not. */
const LEAST_LIFE = 1000

/** Most questions at one time. */
const MOST_OPEN = 64

/** An answer, and when it was asked for: a reading of `clock`. */
interface DatedAnswer {
  readonly answer: Answer
  readonly askedAt: number
}

/** Tokens that are no JWTs: the application's function says what each stands for. */
export class OpaqueTokens {
  readonly #rules: OpaqueTokensRules
  readonly #answers: CachedCallback<Answer, DatedAnswer>
  readonly #jwts: JwtVerifier
  readonly #issuers: Issuers
  readonly #tokens: VerifiedTokens
  /** The digests of good tokens, with their issuers. */
  readonly #good = new RecentKeys()
  /** The invalidations since its question, for each request that waits. */
  readonly #forgotten = new Set<Invalidation[]>()

  constructor(
    rules: OpaqueTokensRules,
    known: {
      readonly jwts: JwtVerifier
      readonly issuers: Issuers
      readonly tokens: VerifiedTokens
    },
  ) {
    this.#rules = rules
    this.#jwts = known.jwts
    this.#issuers = known.issuers
    this.#tokens = known.tokens
    this.#answers = new CachedCallback<Answer, DatedAnswer>({
      ask: (token) => rules.opaqueToken(token),
      read: readAnswer,
      toValue: (answer, _token, _before, askedAt) => ({ answer, askedAt }),
      refuse: (reason) =>
        withoutStack(() => new ERR_AUTH_INTROSPECTION_UNAVAILABLE(1, `opaqueToken ${reason}`)),
      timeout: rules.timeout,
      // Verified tokens have a cache of their own.
      keptFor: ({ answer }) => (answer === null ? REFUSED_FOR : 0),
      refusals: { is: ({ answer }) => answer === null, maxKept: MOST_REFUSED },
      report: rules.report,
      line: { places: MOST_OPEN },
      known: {
        has: (digest) => this.#good.has(digest),
        ...(rules.hasSeveralIssuers === true && {
          shareOf: (digest) => this.#good.shareOf(digest),
        }),
      },
    })
  }

  open(): void {
    this.#answers.open()
  }

  close(): void {
    this.#answers.close()
  }

  /**
   * Asks anew about the tokens of a user, of an issuer, or of all. The user of a token that was not
   * known, or is being asked for, is not known here: it may be one of these.
   */
  forget(what: Invalidation): void {
    this.#answers.forget()
    this.#tokens.forget(({ isOpaque, names }) => isOpaque && isInvalidated(names, what))
    for (const since of this.#forgotten) since.push(what)
  }

  /**
   * The verified token; a promise only if it has to be asked for, and then one of `waits`.
   *
   * @throws ERR_AUTH_TOKEN_INVALID
   * @throws ERR_AUTH_INTROSPECTION_UNAVAILABLE, and what verifying a JWT throws
   */
  verify(token: string, waits: PendingRequests): MaybePromise<Verified | AuthError> {
    if (token.length > this.#rules.maxTokenLength) {
      throw tokenRefusal('longer than maxTokenLength')
    }
    if (!BEARER_TOKEN.test(token)) throw tokenRefusal('characters that no token has')
    const digest = digestOf(token)
    const since: Invalidation[] = []
    this.#forgotten.add(since)
    return attempt(
      () => this.#proved(token, digest, waits, since),
      (verified) => {
        this.#forgotten.delete(since)
        if (verified instanceof AuthError) this.#good.delete(digest)
        return verified
      },
      (error) => {
        this.#forgotten.delete(since)
        // A failure of others says nothing of the token.
        if (isThrown(error, ERR_AUTH_TOKEN_INVALID)) this.#good.delete(digest)
        throw error
      },
    )
  }

  /** @param since what has been forgotten while it was asked for */
  #proved(
    token: string,
    digest: string,
    waits: PendingRequests,
    since: readonly Invalidation[],
  ): MaybePromise<Verified | AuthError> {
    return after(this.#answers.get(digest, waits, token), ({ answer, askedAt }) => {
      const known = this.#tokens.get(token)
      if (known !== undefined) return known
      const endsAt = askedAt + this.#rules.maxAge * 1000
      return after(this.#believe(answer, endsAt, waits), (verified) => {
        if (verified instanceof AuthError) return verified
        this.#good.note(digest, endsAt, digestOf(verified.names.issuer ?? ''))
        const known = asOpaque(verified, endsAt)
        if (since.every((what) => !isInvalidated(known.names, what))) this.#tokens.set(token, known)
        return known
      })
    })
  }

  /** @param endsAt the end of the answer: a reading of `clock` */
  #believe(
    answer: Answer,
    endsAt: number,
    waits: PendingRequests,
  ): MaybePromise<Verified | AuthError> {
    if (answer === null) throw tokenRefusal('opaqueToken does not know the token')
    if (typeof answer === 'string') {
      return this.#tokens.get(answer) ?? this.#jwts.verify(answer, waits)
    }
    const servesUntil = endFor(endsAt)
    const iss = ownProperty(answer, 'iss')
    const claimed = { iss: typeof iss === 'string' ? iss : undefined }
    return after(this.#issuers.find(claimed, waits), (issuer) => {
      const until = (Date.now() + servesUntil - clock.now()) / 1000
      // Each of the requests that asked together freezes claims of its own.
      return issuer.acceptOpaque(structuredClone(answer), until, this.#rules.report)
    })
  }
}

/** @param endsAt the end of the answer: a reading of `clock` */
function asOpaque(verified: Verified, endsAt: number): Verified {
  const { exp = Number.POSITIVE_INFINITY } = verified.lifetime
  const cachedUntil = Math.min(endsAt, clock.now() + exp * 1000 - Date.now())
  const validity = new AnswerValidity(verified, cachedUntil, endFor(endsAt))
  return { ...verified, validity, isOpaque: true }
}

/** The end of an answer for those who asked for it. For others it ends at `endsAt`. */
function endFor(endsAt: number): number {
  return Math.max(endsAt, clock.now() + LEAST_LIFE)
}

/** The text of another server may be long. Its digest is short. */
function digestOf(text: string): string {
  return hash('sha256', text, 'base64url')
}

/** The validity of a token by an answer, which ends. */
class AnswerValidity implements Validity {
  /** That of the issuer. */
  readonly #basis: Validity
  /** The end for new requests: a reading of `clock`. */
  readonly #cachedUntil: number
  /** The end for those who asked: a reading of `clock`. */
  readonly #servesUntil: number
  /**
   * Milliseconds since the epoch, as its users see it. The wall clock may be set, and goes on while
   * the machine sleeps.
   */
  readonly #expiresAt: number
  readonly #isEndless: boolean

  constructor(
    { validity, principal, lifetime }: Verified,
    cachedUntil: number,
    servesUntil: number,
  ) {
    this.#basis = validity
    this.#cachedUntil = cachedUntil
    this.#servesUntil = servesUntil
    this.#expiresAt = principal.expiresAt.getTime()
    this.#isEndless = lifetime.exp === undefined
  }

  get isValid(): boolean {
    const isOver = clock.now() >= this.#cachedUntil || Date.now() >= this.#expiresAt
    return !isOver && this.#basis.isValid
  }

  get hasEnded(): boolean {
    return this.#basis.hasEnded
  }

  get isWithdrawn(): boolean {
    return this.#basis.isWithdrawn
  }

  /** A token that names no end has that of its answer. The time of another is looked at as such. */
  get isOutdated(): boolean {
    return clock.now() >= this.#servesUntil || (this.#isEndless && Date.now() >= this.#expiresAt)
  }
}
