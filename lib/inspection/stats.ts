import type { TokenCacheStats } from '../authentication/token-cache-stats.ts'
import type { DocumentState } from '../outside/document-state.ts'
import type { DecisionStats } from './decision-counts.ts'

/** What a service can tell of itself, in plain numbers and words. */
export interface Stats {
  /** Of guarded requests, in all applications of the service. */
  readonly decisions: DecisionStats
  readonly tokenCache: TokenCacheStats
  /** The documents of other servers that it rests on. */
  readonly documents: readonly DocumentStats[]
}

/** A document of another server, as it is now. */
export interface DocumentStats extends DocumentState {
  /** The keys of an issuer, the list of tenants, or a deny list that is `isRevoked`. */
  readonly kind: 'keys' | 'tenants' | 'denyList'
  /** The issuer's name; of the others their kind. */
  readonly name: string
}
