import type { Authenticator } from '../authentication/authenticator.ts'
import type { Attended } from '../outside/attended.ts'
import type { DocumentState } from '../outside/document-state.ts'
import type { KnownTenants } from '../tenants/known-tenants.ts'
import type { DecisionCounts } from './decision-counts.ts'
import type { DocumentStats, Stats } from './stats.ts'

/** What a service knows of itself. */
export interface Known {
  readonly authenticator: Authenticator
  readonly knownTenants: KnownTenants
  /** Of the functions that were given as options. */
  readonly attendants: readonly Attended[]
  readonly counts: DecisionCounts
}

/** A copy of what is known now. Nothing is asked to find it. */
export function statsOf({ authenticator, knownTenants, attendants, counts }: Known): Stats {
  const keys = authenticator.issuers().map(({ name, keys }) => stats('keys', name, keys.state()))
  const tenants = stats('tenants', 'tenants', knownTenants.state())
  const lists = attendants.map((each) => stats('denyList', 'denyList', each.state()))
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
