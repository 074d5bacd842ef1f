import { Type } from '@sinclair/typebox'
import { Issuers } from './issuer-rules.ts'
import { Seconds } from './option-kinds.ts'
import { KeysUrl, Names, PublicKeys } from './token-kinds.ts'

/** Whose tokens are accepted. */
export const issuerOptions = {
  /**
   * Address of the authorization server's JWK set (`jwks_uri`, RFC 8414 §2); http or https. Not
   * used in dev mode, nor where `publicKeys` is given. Not given: one `issuer` is discovered
   * (OpenID Connect Discovery §4), and several in `issuer` stop the boot.
   * @default 'http://localhost:8081/openidconnect/public_keys' where no issuer is given
   */
  publicKeysUrl: KeysUrl({ default: 'http://localhost:8081/openidconnect/public_keys' }),

  /** The authorization server's JWK set itself (RFC 7517 §5). Wins over any URL. */
  publicKeys: Type.Optional(PublicKeys),

  /**
   * Accepted `iss` claims, compared exactly (RFC 7519 §4.1.1). Several share one key set. Not
   * given: not checked, with a warning at boot.
   */
  issuer: Type.Optional(Names),

  /**
   * Accepted `aud` claims, one of which the token must name (RFC 7519 §4.1.3, RFC 9068 §4). Not
   * given: not checked, with a warning at boot.
   */
  audience: Type.Optional(Names),

  /**
   * Several issuers, each with its own keys, and with the tenants that it may speak for: a list, or
   * a function that is asked for the rules of a token's `iss` and gives null for an unknown one. In
   * the INI file a section `[auth.NAME]` for each. Excludes `issuer`, `publicKeysUrl` and
   * `publicKeys`. Not used in dev mode. A function that is late or throws, and an answer that
   * cannot be used: 503 ERR_AUTH_ISSUERS_UNAVAILABLE.
   */
  issuers: Type.Optional(Issuers),

  /**
   * How long an answer of a function in `issuers` is kept, in seconds from 0. While the function
   * fails, the last good answer serves `keysMaxStale` longer.
   * @default 300
   */
  issuersMaxAge: Seconds(300),

  /**
   * Most issuers of a function in `issuers` that are held, from 1 to 100 000. One that has proved
   * no token displaces none that has. Given beside a function only.
   * @default 1000
   */
  issuersMax: Type.Integer({
    default: 1000,
    minimum: 1,
    maximum: 100_000,
    expected: 'a whole number from 1 to 100000',
  }),

  /**
   * Whether addresses that a function in `issuers` gives, and those discovered from them, may lead
   * to hosts that are not public, such as loopback or 10.0.0.0/8 (RFC 6890). They are https, or
   * http on loopback, in any case, and no proxy is used.
   * @default false
   */
  allowPrivateIssuers: Type.Boolean({ default: false, expected: 'a boolean' }),
}
