/** What a token says. Not an interface: what its members may be, a record can be read of. */
export type Claims = {
  readonly iss: string
  readonly aud: string
  readonly sub: string
  readonly jti: string
  readonly sid: string
  readonly iat: number
  readonly nbf?: number
  readonly exp: number
  readonly resources?: Resources
  readonly cnf?: { readonly jkt?: string }
  readonly acr?: string
  readonly auth_time?: number
  /** Of a logout token. */
  readonly events?: object
  readonly nonce?: string
}

/** From a tenant, or `*`, to ids. */
export type Resources = Readonly<Record<string, readonly string[]>>

/** A JWT, and what is true of it. */
export interface Jwt {
  readonly kind: 'jwt'
  readonly text: string
  readonly claims: Claims
  readonly typ: string
  readonly kid: string
  /** Whether the key of that name, of that issuer, has signed what it says, as its header says. */
  readonly isGenuine: boolean
  /** Whether its header is one that a signature could prove. */
  readonly isSigned: boolean
}

/** A token that is signed with a secret. */
export interface Secret {
  readonly kind: 'secret'
  readonly text: string
  readonly claims: Claims
  /** Whether it is signed with a secret of the applications. */
  readonly isGenuine: boolean
}

/** A token that is no JWT. */
export interface Opaque {
  readonly kind: 'opaque'
  readonly text: string
}

export type Token = Jwt | Secret | Opaque

/** The member of `events` that makes a logout token. */
export const LOGOUT = 'http://schemas.openid.net/event/backchannel-logout'
