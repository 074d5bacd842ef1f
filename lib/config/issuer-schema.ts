import type { Static } from '@sinclair/typebox'
import * as Type from '@sinclair/typebox'
import { isResourcesOf, type ResourcesOf } from '../identity/authorization/resources.ts'
import {
  Algorithms,
  Callable,
  Custom,
  KeysUrl,
  List,
  MapClaims,
  Names,
  PublicKeys,
  TenantName,
  Text,
  TokenTypes,
} from './option-types.ts'

/** Every member of an issuer's rules: its type, and what a value must be. */
export const Rules = Type.Object({
  /**
   * Name of the issuer in logs and `stats()`: printable ASCII, at most 100 characters. In the INI
   * file the NAME of the section `[auth.NAME]`.
   * @default the host of the issuer and its path
   */
  name: Type.Optional(
    Text('printable ASCII of at most 100 characters', { pattern: '^[ -~]{1,100}$' }),
  ),

  /**
   * The `iss` claim of its tokens, compared exactly (RFC 7519 §4.1.1); no white space. Required in
   * a list. A function need not repeat it; if it does, it must be the one that it was called with.
   */
  issuer: Type.Optional(Text('a string without white space', { pattern: '^\\S+$' })),

  /**
   * The tenants that it may speak for: a list of names, or `'*'` for every one. With a list, rights
   * in all other tenants are dropped from its tokens, and rights in every tenant count in these
   * only.
   */
  tenants: Type.Union([Type.Literal('*'), List(TenantName)], {
    expected: "'*' or a list of tenant names",
  }),

  /**
   * Accepted `aud` claims, one of which the token must name (RFC 7519 §4.1.3, RFC 9068 §4).
   * Required here or as the option.
   * @default the option `audience`
   */
  audience: Type.Optional(Names),

  /**
   * Address of its JWK set (`jwks_uri`, RFC 8414 §2); http or https. Excludes `publicKeys`. With
   * neither of them the issuer is discovered (OpenID Connect Discovery §4), and must be an https
   * URL, or an http one on loopback.
   */
  publicKeysUrl: Type.Optional(KeysUrl()),

  /** Its JWK set itself (RFC 7517 §5). Excludes `publicKeysUrl`. */
  publicKeys: Type.Optional(PublicKeys),

  /** Accepted `alg` headers (RFC 8725 §3.1). @default the option `algorithms` */
  algorithms: Type.Optional(Algorithms()),

  /**
   * Accepted `typ` headers, compared as media types (RFC 7515 §4.1.9, RFC 8725 §3.11).
   * @default the option `tokenTypes`
   */
  tokenTypes: Type.Optional(TokenTypes),

  /**
   * Turns its verified claims into user info; run once for each token. If it throws, or its result
   * is no user info, the token is refused.
   * @default the option `mapClaims`
   */
  mapClaims: Type.Optional(MapClaims),

  /**
   * Returns the rights of its users, as the option does, with questions and a cache of its own;
   * `'claims'`: its tokens bring their own rights.
   * @default the option `resourcesOf`
   */
  resourcesOf: Type.Optional(
    Custom<ResourcesOf | 'claims'>("a function, or 'claims'", isResourcesOf),
  ),
})

/**
 * An issuer, and what its tokens are worth: the answer of a function in `issuers`. A member that is
 * `undefined` is refused: it may be an environment variable, or a column, that is missing.
 */
export type IssuerRules = Readonly<Static<typeof Rules>>

export type IssuerMember = keyof IssuerRules

/** An issuer of a list in `issuers`. */
export interface ListedIssuer extends IssuerRules {
  /** The `iss` claim of its tokens, compared exactly (RFC 7519 §4.1.1); no white space. */
  readonly issuer: string
}

/** Returns the rules for the tokens of an issuer; null if it is unknown. */
export type FindIssuer = (issuer: string) => IssuerRules | null | Promise<IssuerRules | null>

/** The members of each issuer are checked one by one, so that a message can name them. */
export const IssuersOption = Type.Unsafe<readonly ListedIssuer[] | FindIssuer>(
  Type.Union([Type.Array(Type.Unknown(), { minItems: 1 }), Callable<FindIssuer>()], {
    expected: 'a list of issuers, or a function',
  }),
)
