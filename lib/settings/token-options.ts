import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import type { OpaqueToken } from '../authentication/opaque-answer.ts'
import { supportedAlgorithms } from '../keys/algorithms.ts'
import type { TokenInfo } from '../tokens/token-info.ts'
import type { UserInfo } from '../tokens/user-info.ts'
import { Callable, Seconds, Size } from './option-kinds.ts'
import { Algorithms, MapClaims, TokenTypes } from './token-kinds.ts'

/** What a token must be, and what becomes of it. */
export const tokenOptions = {
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
