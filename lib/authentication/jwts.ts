import { after, type NowOrLater } from '../outside/now-or-later.ts'
import type { Waits } from '../outside/waits.ts'
import { type CompactJws, parseCompactJws } from '../tokens/compact-jws.ts'
import { JoseHeaders } from '../tokens/jose-header.ts'
import { TokenRefused } from '../tokens/token-refused.ts'
import type { Issuers } from './issuers.ts'
import type { Verified, VerifiedTokens } from './verified-tokens.ts'

/** Tokens that are JWTs (RFC 7519): each is verified by its issuer. */
export class Jwts {
  readonly #issuers: Issuers
  readonly #tokens: VerifiedTokens
  readonly #maxLength: number
  readonly #headers = new JoseHeaders()

  /** @param maxLength most characters of a token */
  constructor(issuers: Issuers, tokens: VerifiedTokens, maxLength: number) {
    this.#issuers = issuers
    this.#tokens = tokens
    this.#maxLength = maxLength
  }

  /**
   * What a token stands for; a promise only where its issuer or its key is not known yet, and then
   * one of `waits`.
   *
   * @throws TokenRefused
   * @throws ERR_AUTH_ISSUERS_UNAVAILABLE, ERR_AUTH_KEYS_UNAVAILABLE
   */
  verify(token: string, waits: Waits): NowOrLater<Verified | TokenRefused> {
    const jws = parseCompactJws(token, this.#maxLength, this.#headers)
    return after(this.#issuers.find(jws.payload, waits), (issuer) => {
      // An issuer that had to be asked for may have proved this token before.
      const verified = this.#tokens.get(token) ?? issuer.verify(token, jws, waits)
      return verified instanceof Promise ? this.#whenProved(verified, token, jws, waits) : verified
    })
  }

  /** While a key was waited for, its issuer may have changed, or be trusted no more. */
  async #whenProved(
    proving: Promise<Verified | TokenRefused>,
    token: string,
    jws: CompactJws,
    waits: Waits,
  ): Promise<Verified | TokenRefused> {
    const verified = await proving
    if (verified instanceof TokenRefused || verified.proof.holds) return verified
    const issuer = await this.#issuers.find(jws.payload, waits)
    return issuer.verify(token, jws, waits)
  }
}
