import type { Authenticator } from '../authentication/authenticator.ts'
import type { DocumentState } from '../outside/document-times.ts'
import type { KnownTenants } from '../tenants/known-tenants.ts'

/** What a service can tell of itself, in plain numbers and words. */
export interface Stats {
  /** The documents of other servers that it rests on. */
  readonly documents: readonly DocumentStats[]
}

/** A document of another server, as it is now. */
export interface DocumentStats extends DocumentState {
  /** The keys of an issuer, or the list of tenants. */
  readonly kind: 'keys' | 'tenants'
  /** The issuer's name; of the list of tenants `tenants`. */
  readonly name: string
}

/** What rests on documents of other servers. */
export interface Documented {
  readonly authenticator: Authenticator
  readonly knownTenants: KnownTenants
}

/** What is known of each document, without asking for any. */
export function documentStats({ authenticator, knownTenants }: Documented): DocumentStats[] {
  const keys = authenticator
    .issuers()
    .map((issuer) => ({ kind: 'keys', name: issuer.name, ...issuer.keys.state() }) as const)
  const tenants = knownTenants.state?.()
  if (tenants === undefined) return keys
  return [...keys, { kind: 'tenants', name: 'tenants', ...tenants }]
}
