import type { Resources } from '../tokens/user-info.ts'

/** Whose rights are asked for: by the verified token, whatever `mapClaims` made of it. */
export interface TokenUser {
  /** `iss` (RFC 7519 §4.1.1); null: the token has none. */
  readonly issuer: string | null
  /** `sub` (RFC 7519 §4.1.2), which is unique within one issuer only. Never empty. */
  readonly sub: string
}

/**
 * Tells what a user may do, in the shape of the claim `resources`; `null`: the user is not known,
 * and has no rights.
 *
 * @throws anything where that cannot be told now, which is answered with 503
 */
export type ResourcesOf = (user: TokenUser) => Resources | null | Promise<Resources | null>
