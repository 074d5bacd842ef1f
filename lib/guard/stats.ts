import type { AuthError } from '../errors.ts'
import type { Authenticator } from '../identity/authentication/authenticator.ts'
import type { TokenCacheStats } from '../identity/authentication/token-cache.ts'
import type { KnownTenants } from '../identity/tenants/known-tenants.ts'
import type { Lifecycle } from '../platform/callbacks/lifecycle.ts'
import type { DocumentState } from '../platform/http/document-status.ts'

/** The figures of a service, in plain numbers and words. */
export interface Stats {
  /** The decisions on guarded requests, in all applications of the service. */
  readonly decisions: DecisionStats
  readonly tokenCache: TokenCacheStats
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

/** The numbers of guarded requests that were admitted, and refused. */
export interface DecisionStats {
  readonly admitted: number
  /** By the code of the error, for those that occurred. */
  readonly refused: Readonly<Record<string, number>>
}

/** The decisions of one service, in all its applications. */
export class DecisionCounts {
  #admitted = 0
  readonly #refused = new Map<string, number>()

  /** @param error null: the request was admitted */
  count(error: AuthError | null): void {
    if (error === null) this.#admitted++
    else this.#refused.set(error.code, (this.#refused.get(error.code) ?? 0) + 1)
  }

  get stats(): DecisionStats {
    return { admitted: this.#admitted, refused: Object.fromEntries(this.#refused) }
  }
}

/** The parts of a service that have figures. */
export interface StatsSources {
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
