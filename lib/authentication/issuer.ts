import type { VerificationKey } from '../keys/json-web-key.ts'
import type { KeySource } from '../keys/key-source.ts'
import type { NowOrLater } from '../outside/now-or-later.ts'
import type { Waits } from '../outside/waits.ts'
import { withoutStack } from '../outside/without-stack.ts'
import { type AuthorizationRules, Principal } from '../rights/principal.ts'
import { type CompactJws, parseCompactJws } from '../tokens/compact-jws.ts'
import { type HeaderRules, JoseHeaders } from '../tokens/jose-header.ts'
import { checkLifetime } from '../tokens/registered-claims.ts'
import { type VerifyRules, verifyToken } from '../tokens/verify-token.ts'
import { keysUnavailable, withKey } from './find-key.ts'
import { type Verified, VerifiedTokens } from './verified-tokens.ts'

export interface IssuerRules extends HeaderRules, VerifyRules, AuthorizationRules {
  /** In characters. */
  readonly maxTokenLength: number
  /** Most verified tokens that are kept. */
  readonly tokenCacheSize: number
}

/**
 * An authorization server that is trusted: its keys, the rules for its tokens, and those it has
 * proved.
 */
export class Issuer {
  readonly #keys: KeySource
  readonly #rules: IssuerRules
  readonly #headers: JoseHeaders
  readonly #verified: VerifiedTokens

  constructor(keys: KeySource, rules: IssuerRules) {
    this.#keys = keys
    this.#rules = rules
    this.#headers = new JoseHeaders(rules)
    this.#verified = new VerifiedTokens(rules.tokenCacheSize)
  }

  open(): void {
    this.#keys.open()
  }

  close(): void {
    this.#keys.close()
  }

  get isReady(): boolean {
    return this.#keys.current() !== undefined
  }

  /** @throws ERR_AUTH_KEYS_UNAVAILABLE */
  async refreshKeys(): Promise<void> {
    if (!(await this.#keys.reload())) throw keysUnavailable(this.#keys)
  }

  /**
   * What a token of this issuer stands for; a promise only where its key is not known yet, and then
   * one of `waits`.
   *
   * @throws TokenRefused
   * @throws ERR_AUTH_KEYS_UNAVAILABLE
   */
  verify(token: string, waits: Waits): NowOrLater<Verified> {
    const known = this.#verified.get(token, this.#keys.current())
    if (known !== undefined) {
      checkLifetime(known.lifetime, this.#rules.clockTolerance)
      return known
    }
    const jws = parseCompactJws(token, this.#rules.maxTokenLength, this.#headers)
    const proved = withKey(this.#keys, jws.header, ({ key, keys }) => {
      const verified = this.#prove(jws, key)
      this.#verified.set(token, keys, verified)
      return verified
    })
    return waits.for(proved, () => withoutStack(() => keysUnavailable(this.#keys)))
  }

  #prove(jws: CompactJws, key: VerificationKey): Verified {
    const { userInfo, names, lifetime } = verifyToken(jws, key, this.#rules)
    return { principal: new Principal(userInfo, lifetime.exp, this.#rules), lifetime, names }
  }
}
