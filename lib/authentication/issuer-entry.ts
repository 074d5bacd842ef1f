import type { UserInfo } from '../tokens/user-info.ts'

/** An issuer as it is configured: checked, copied, with what it falls back to filled in. */
export interface IssuerEntry {
  /** What logs and `stats()` call it. */
  readonly name: string
  /** Accepted `iss` claims; undefined: not checked. Several share the keys. */
  readonly issuer: readonly string[] | undefined
  /** The tenants that it may speak for; `*`: every one. */
  readonly tenants: '*' | readonly string[]
  /** Accepted `aud` claims, one of which a token must name; undefined: not checked. */
  readonly audience: readonly string[] | undefined
  /** The JWK set itself. */
  readonly publicKeys: object | undefined
  /** Address of the JWK set. Without it, and without `publicKeys`: the issuer is discovered. */
  readonly publicKeysUrl: string | undefined
  readonly algorithms: readonly string[]
  /** Accepted `typ` headers; undefined: those of an access token, or none. */
  readonly tokenTypes: readonly string[] | undefined
  readonly mapClaims: ((claims: Record<string, unknown>) => UserInfo) | undefined
}
