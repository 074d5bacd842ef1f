import type { AuthError } from '../../errors.ts'
import type { ReportFailure } from '../../platform/callbacks/call-with-timeout.ts'
import type { PendingRequests } from '../../platform/callbacks/pending-requests.ts'
import { withoutStack } from '../../platform/runtime/error.ts'
import type { MaybePromise } from '../../platform/runtime/maybe-promise.ts'
import type { ExternalRights } from '../authorization/external-rights.ts'
import { Principal } from '../authorization/principal.ts'
import type { ResourcesOf } from '../authorization/resources.ts'
import type { AllowedTenants, RightsRules } from '../authorization/rights.ts'
import type { VerificationKey } from '../jwks/jwk.ts'
import type { KeySet } from '../jwks/jwk-set.ts'
import type { KeySource } from '../jwks/key-source.ts'
import type { CompactJws } from '../jwt/compact-jws.ts'
import { acceptLogout, earlyLogoutRefusal, type Logout } from '../jwt/logout-token.ts'
import type { UserInfo } from '../jwt/user-info.ts'
import {
  type AcceptedClaims,
  acceptClaims,
  acceptToken,
  earlyRefusal,
  isSigned,
  type VerifyRules,
} from '../jwt/verify.ts'
import { EVERY_TENANT } from '../tenants/tenant-name.ts'
import { findSigningKeys, keysUnavailable } from './key-lookup.ts'
import {
  EndingValidity,
  type Validity,
  type Verified,
  type VerifiedTokens,
} from './verified-tokens.ts'

export interface TrustRules extends VerifyRules, RightsRules {
  readonly name: string
  readonly tenants: AllowedTenants
  readonly external?: ExternalRights | undefined
}

/** The trust in an issuer, and callbacks that note its use. */
export interface Standing {
  /** Asked for each token, kept or new. It notes that the issuer is in use. */
  isTrusted(): boolean
  onProof(): void
  /** A request begins to wait for its keys. */
  onWait(): void
  onWaitEnd(): void
}

/** The standing of a configured issuer: nobody takes it back. */
const FOR_GOOD: Standing = { isTrusted: () => true, onProof() {}, onWait() {}, onWaitEnd() {} }

/**
 * An authorization server that is trusted: its keys, the rules for its tokens, and the tenants that
 * it may speak for.
 */
export class Issuer {
  readonly keys: KeySource
  readonly #tokens: VerifiedTokens
  readonly #standing: Standing
  readonly #trust: EndingValidity
  #rules: TrustRules
  #provedBy: KeySet | undefined
  #validity: EndingValidity | undefined
  #isRetired = false

  /** @param tokens the cache of the tokens that it proves */
  constructor(
    keys: KeySource,
    rules: TrustRules,
    tokens: VerifiedTokens,
    standing: Standing = FOR_GOOD,
  ) {
    this.keys = keys
    this.#rules = rules
    this.#tokens = tokens
    this.#standing = standing
    this.#trust = new EndingValidity(() => standing.isTrusted())
  }

  get name(): string {
    return this.#rules.name
  }

  /** Its `iss` claims; empty: any. */
  get identifiers(): readonly string[] {
    return this.#rules.issuer ?? []
  }

  get external(): ExternalRights | undefined {
    return this.#rules.external
  }

  /** Its keys are fetched, and its users' rights may be asked for. */
  open(): void {
    this.keys.open()
    this.#rules.external?.open()
  }

  close(): void {
    this.keys.close()
    this.#rules.external?.close()
  }

  get isPinned(): boolean {
    return this.#rules.tenants !== EVERY_TENANT
  }

  get isReady(): boolean {
    return this.keys.current() !== undefined
  }

  async refreshKeys(): Promise<void> {
    if (!(await this.keys.reload())) throw keysUnavailable(this.keys)
  }

  /** Tokens are mapped by this from now on. Cached ones stay as they are. */
  mapBy(mapClaims: ((claims: Record<string, unknown>) => UserInfo) | undefined): void {
    this.#rules = { ...this.#rules, mapClaims }
  }

  get isTrusted(): boolean {
    return this.#trust.isValid
  }

  /** True: another issuer, or none, is in its place. */
  get isRetired(): boolean {
    return this.#isRetired
  }

  /**
   * It has given way to another issuer. What it has proved counts for requests under way.
   *
   * @param isAsItWas false: it is gone since, or has other rules
   */
  displace(isAsItWas: () => boolean): void {
    this.#isRetired = true
    this.#trust.closeToNewRequests(isAsItWas)
    this.#validity?.closeToNewRequests(isAsItWas)
  }

  /** No token that it has proved is believed any more. */
  retire(): void {
    this.#isRetired = true
    this.#trust.end()
    this.#validity?.end()
  }

  /**
   * The verified token; a promise only if its key is not known yet, and then one of `waits`.
   *
   * @throws ERR_AUTH_TOKEN_INVALID
   * @throws ERR_AUTH_KEYS_UNAVAILABLE
   */
  verify(
    token: string,
    jws: CompactJws,
    waits: PendingRequests,
  ): MaybePromise<Verified | AuthError> {
    const refusal = earlyRefusal(jws, this.#rules)
    if (refusal !== undefined) return refusal
    return this.#prove(jws, waits, (keys, hasWaited) =>
      this.#acceptJwt(token, jws, keys, hasWaited),
    )
  }

  /**
   * As `verify`, for a logout token, by the same keys and algorithms. Its `typ` and `aud` are its
   * own.
   */
  verifyLogout(
    jws: CompactJws,
    clients: readonly string[],
    waits: PendingRequests,
  ): MaybePromise<Logout | AuthError> {
    const { issuer, algorithms, clockTolerance } = this.#rules
    const rules = { issuer, algorithms, clockTolerance, audience: clients }
    const refusal = earlyLogoutRefusal(jws, rules)
    if (refusal !== undefined) return refusal
    return this.#prove(jws, waits, () => {
      const logout = acceptLogout(jws, rules)
      this.#standing.onProof()
      return logout
    })
  }

  /** @param accept gets the keys that proved the token, and whether they had to be waited for */
  #prove<T>(
    jws: CompactJws,
    waits: PendingRequests,
    accept: (keys: KeySet, hasWaited: boolean) => T,
  ): MaybePromise<T> {
    const isSignedBy = (key: VerificationKey) => isSigned(jws, key)
    const found = findSigningKeys(this.keys, { header: jws.header, isSignedBy })
    if (!(found instanceof Promise)) return accept(found, false)
    const proved = found.then((keys) => accept(keys, true))
    this.#standing.onWait()
    const end = (): void => this.#standing.onWaitEnd()
    proved.then(end, end)
    return waits.waitFor(proved, () => withoutStack(() => keysUnavailable(this.keys)))
  }

  #acceptJwt(
    token: string,
    jws: CompactJws,
    keys: KeySet,
    hasWaited: boolean,
  ): Verified | AuthError {
    // The first of those that waited together has proved it.
    const known = hasWaited ? this.#tokens.get(token) : undefined
    if (known !== undefined) return known
    const accepted = acceptToken(jws, this.#rules, !hasWaited)
    const verified = this.#makeVerified(accepted, Number.POSITIVE_INFINITY, this.#validityBy(keys))
    this.#tokens.set(token, verified)
    return verified
  }

  /**
   * The token of claims that come from this issuer without its signature.
   *
   * @param until seconds since the epoch: their end if they do not name one
   * @throws ERR_AUTH_TOKEN_INVALID
   */
  acceptOpaque(claims: Record<string, unknown>, until: number, report?: ReportFailure): Verified {
    return this.#makeVerified(acceptClaims(claims, this.#rules, report), until, this.#trust)
  }

  #makeVerified(accepted: AcceptedClaims, until: number, validity: Validity): Verified {
    const { userInfo, names, lifetime, actors, login, confirmation, addressed, size } = accepted
    const { exp = until } = lifetime
    const { tenants, external } = this.#rules
    const { issuer, sub: tokenSub } = names
    const subject = { exp, issuer, actors, tokenSub, login, addressed, size }
    const principal = Principal.of(userInfo, subject, this.#rules, tenants)
    this.#standing.onProof()
    return {
      principal,
      lifetime,
      names,
      tenants,
      external,
      validity,
      confirmation,
      isOpaque: false,
    }
  }

  /** One for each key set. The one before ends: what other keys have proved is proved anew. */
  #validityBy(keys: KeySet): Validity {
    if (this.#validity === undefined || this.#provedBy !== keys) {
      this.#validity?.end()
      this.#provedBy = keys
      this.#validity = new EndingValidity(
        () => this.#standing.isTrusted() && this.keys.current() === keys,
        () => this.keys.current() === keys,
      )
    }
    return this.#validity
  }
}

/** An issuer as it is configured: checked, copied, with what it falls back to filled in. */
export interface IssuerEntry {
  readonly name: string
  /** Accepted `iss` claims; undefined: not checked. Several share the keys. */
  readonly issuer: readonly string[] | undefined
  readonly tenants: '*' | readonly string[]
  /** Accepted `aud` claims, one of which a token must name; undefined: not checked. */
  readonly audience: readonly string[] | undefined
  /** The JWK set itself, as JSON: the application may change its own. */
  readonly publicKeys: string | undefined
  readonly keySet: KeySet | undefined
  /** Address of the JWK set. Without it, and without `publicKeys`: the issuer is discovered. */
  readonly publicKeysUrl: string | undefined
  readonly algorithms: readonly string[]
  /** Accepted `typ` headers; undefined: those of an access token, or none. */
  readonly tokenTypes: readonly string[] | undefined
  readonly mapClaims: ((claims: Record<string, unknown>) => UserInfo) | undefined
  /** Its own function for rights; `claims`: those of its tokens. Undefined: that of the option. */
  readonly resourcesOf?: ResourcesOf | 'claims' | undefined
}
