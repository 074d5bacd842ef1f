import type { Authenticator, KeyStats } from '../identity/authentication/authenticator.ts'
import type { TokenCacheStats } from '../identity/authentication/token-cache.ts'
import type { ProofStats } from '../identity/proofs/possession.ts'
import type { KnownTenants } from '../identity/tenants/known-tenants.ts'
import type { Lifecycle } from '../platform/callbacks/lifecycle.ts'
import type { DocumentState } from '../platform/http/document-status.ts'
import type { DecisionCounts, DecisionStats } from './decision-events.ts'

/** The figures of a service, in plain numbers and words. */
export interface Stats {
  /** The decisions on guarded requests, in all applications of the service. */
  readonly decisions: DecisionStats
  readonly tokenCache: TokenCacheStats
  readonly keys: KeyStats
  /** The proofs of tokens that are bound to a key (RFC 9449). */
  readonly proofs: ProofStats
  /** The documents of other servers that it depends on. */
  readonly documents: readonly DocumentStats[]
}

/** A document of another server, as it is now. */
export interface DocumentStats extends DocumentState {
  /** The keys of an issuer, the list of tenants, or a deny list that is `isRevoked`. */
  readonly kind: 'keys' | 'tenants' | 'denyList'
  /** The issuer's name, or the kind of another document. */
  readonly name: string
}

interface StatsSources {
  readonly authenticator: Authenticator
  readonly knownTenants: KnownTenants
  readonly lifecycles: readonly Lifecycle[]
  readonly counts: DecisionCounts
}

/** A copy of the figures. To find them, no function is called. */
export function statsOf({ authenticator, knownTenants, lifecycles, counts }: StatsSources): Stats {
  const keys = authenticator.issuers().map(({ name, keys }) => stats('keys', name, keys.state()))
  const tenants = stats('tenants', 'tenants', knownTenants.state())
  const lists = lifecycles.map((each) => stats('denyList', 'denyList', each.state()))
  return {
    decisions: counts.stats,
    tokenCache: { ...authenticator.tokenCache },
    keys: authenticator.keyStats,
    proofs: { ...authenticator.proofs },
    documents: [...keys, tenants, ...lists].filter((document) => document !== undefined),
  }
}

function stats(
  kind: DocumentStats['kind'],
  name: string,
  state: DocumentState | undefined,
): DocumentStats | undefined {
  return state && { kind, name, ...state }
}
