import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import type { OpaqueToken } from '../authentication/opaque-answer.ts'
import { supportedAlgorithms } from '../keys/algorithms.ts'
import type { TokenInfo } from '../tokens/token-info.ts'
import type { UserInfo } from '../tokens/user-info.ts'
import { Issuers } from './issuer-rules.ts'
import {
  Algorithms,
  Callable,
  CodeSwitch,
  KeysUrl,
  MapClaims,
  Names,
  PublicKeys,
  Seconds,
  Size,
  TokenTypes,
} from './option-kinds.ts'

/** Whose tokens are accepted, what a token must be, and what becomes of it. */
export const tokenOptions = {
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
  allowPrivateIssuers: CodeSwitch(false),

  /** Limit of one fetch of the key set, body included, in seconds from 0. @default 5 */
  keysTimeout: Seconds(5),

  /**
   * How long a key set is fresh, in seconds from 0. A new one is fetched in the background before
   * that.
   * @default 600
   */
  keysMaxAge: Seconds(600),

  /**
   * How long beyond `keysMaxAge` a key set still serves while no newer one can be had, in seconds
   * from 0.
   * @default 3600
   */
  keysMaxStale: Seconds(3600),

  /**
   * Least time between two fetches that unknown keys cause, in seconds from 0; also the longest
   * wait between retries.
   * @default 30
   */
  keysCooldown: Seconds(30),

  /**
   * Wait before a failed fetch is tried again, in seconds from 0; doubles with each failure up to
   * `keysCooldown`.
   * @default 1
   */
  keysRetry: Seconds(1),

  /**
   * Accepted `alg` headers (RFC 8725 §3.1).
   * @default every asymmetric JWS algorithm that we support on this Node
   */
  algorithms: Algorithms({ default: [...supportedAlgorithms] }),

  /**
   * Accepted `typ` headers, compared as media types (RFC 7515 §4.1.9, RFC 8725 §3.11). Where the
   * list is given, a token without `typ` is refused.
   * @default JWT, at+jwt, and no `typ`
   */
  tokenTypes: Type.Optional(TokenTypes),

  /**
   * What becomes of a token that is bound to its sender (a `cnf` claim with members, RFC 7800),
   * which is no bearer token. `ignore` is for tokens whose binding a gateway in front has checked;
   * a warning at boot.
   * @default 'refuse'
   */
  confirmation: Type.Union([Type.Literal('refuse'), Type.Literal('ignore')], {
    default: 'refuse',
    expected: 'refuse or ignore',
  }),

  /** Tolerance for `exp`, `nbf` and `iat`, in seconds from 0 (RFC 7519 §4.1.4). @default 5 */
  clockTolerance: Seconds(5),

  /** Longest token, in characters; its header at most 2048 of them. @default 16384 */
  maxTokenLength: Size(16_384),

  /**
   * Another place for the token, asked only where there is no Authorization header. A cookie brings
   * CSRF with it.
   */
  tokenFrom: Type.Optional(Callable<(request: FastifyRequest) => string | null>()),

  /**
   * Asked for what a token stands for that is no JWT, such as an API key, or one to be introspected
   * (RFC 7662). An object: its claims, checked as those of a JWT are; a string: a JWT in its place;
   * null: 401 ERR_AUTH_TOKEN_INVALID. Late, thrown, or any other answer: 503
   * ERR_AUTH_INTROSPECTION_UNAVAILABLE. Not given: a token that is no JWT is refused.
   */
  opaqueToken: Type.Optional(Callable<OpaqueToken>()),

  /**
   * How long an answer of `opaqueToken` is kept, in seconds from 0; never beyond its `exp`.
   * @default 30
   */
  opaqueMaxAge: Seconds(30),

  /**
   * Turns the verified claims of another server into user info; run once for each token. The token
   * is refused where it throws, or where its result is no user info.
   */
  mapClaims: Type.Optional(MapClaims),

  /**
   * Asked on every request, cached token or not, but in dev mode. `true`: 401
   * ERR_AUTH_TOKEN_INVALID; late, thrown or no boolean: 503 ERR_AUTH_REVOCATION_UNAVAILABLE.
   * `token` is what the token itself says, whatever `mapClaims` made of it.
   */
  isRevoked: Type.Optional(
    Callable<(userInfo: UserInfo, token: TokenInfo) => boolean | Promise<boolean>>(),
  ),

  /**
   * Verified tokens that are kept, with at most 2 KiB of text and 8 KiB of memory for each on
   * average; 0: none.
   * @default 10000
   */
  tokenCacheSize: Size(10_000),
}
