import type { ListedRoute } from '../../../routes/route-list.ts'

type Require = ListedRoute['require']

/** A difference lets somebody in, or keeps somebody out, or does neither. */
export type Effect = 'opens' | 'closes' | 'changes'

export interface RouteDifference {
  readonly effect: Effect
  readonly text: string
}

/** The differences in one route. The data that it receives decide nothing and are left out. */
export function routeDifferences(was: ListedRoute, is: ListedRoute): RouteDifference[] {
  if (was.noauth !== is.noauth) {
    // A policy that is not known may be any.
    const effect = was.noauth === true ? 'closes' : 'opens'
    return [{ effect, text: `was ${accessWords(was)}, is ${accessWords(is)}` }]
  }
  return [...tenantDifference(was, is), ...requireDifference(was, is)]
}

/** A policy in words: `open`, `guarded, tenant in the path, require a:b`. */
export function policyWords(route: ListedRoute): string {
  if (route.noauth !== false) return accessWords(route)
  const tenant = TENANTS[route.tenant ?? 'none'].words
  return `guarded, tenant ${tenant}, require ${requirementWords(route.require)}`
}

function accessWords({ noauth }: ListedRoute): string {
  if (noauth === null) return 'not known (written before the plugin)'
  return noauth ? 'open' : 'guarded'
}

const TENANTS = {
  path: { words: 'in the path', strictness: 2 },
  query: { words: 'in the query', strictness: 2 },
  optional: { words: 'optional in the query', strictness: 1 },
  none: { words: 'none', strictness: 0 },
} as const

function tenantDifference(was: ListedRoute, is: ListedRoute): RouteDifference[] {
  if (was.tenant === is.tenant) return []
  const [before, after] = [TENANTS[was.tenant ?? 'none'], TENANTS[is.tenant ?? 'none']]
  const text = `tenant was ${before.words}, is ${after.words}`
  // A user may hold in a tenant the rights that he does not hold everywhere.
  if (was.tenant === null && is.require !== null) return [{ effect: 'opens', text }]
  const more = after.strictness - before.strictness
  if (more === 0) return [{ effect: 'changes', text }]
  return [{ effect: more < 0 ? 'opens' : 'closes', text }]
}

/** If one user meets the new requirement who did not meet the old one, something opens. */
function requireDifference(was: ListedRoute, is: ListedRoute): RouteDifference[] {
  const [before, after] = [requirementWords(was.require), requirementWords(is.require)]
  if (before === after) return []
  const text = `require was ${before}, is ${after}`
  if (!implies(is.require, was.require)) return [{ effect: 'opens', text }]
  return [{ effect: implies(was.require, is.require) ? 'changes' : 'closes', text }]
}

function implies(stricter: Require, looser: Require): boolean {
  return leastHeld(stricter).every((held) => isMetBy(held, looser))
}

/** In any order: `a:b and c:d`, `any of a:b, c:d`, `none`, `what cannot be held`. */
export function requirementWords(require: Require): string {
  if (require === null) return 'none'
  const ids = [...new Set(isAll(require) ? require : require.any)].sort()
  // A declaration may be wrong and yet not stop the boot.
  if (ids.length === 0) return 'what cannot be held'
  return isAll(require) ? ids.join(' and ') : `any of ${ids.join(', ')}`
}

/** The smallest sets of ids that meet a requirement. */
function leastHeld(require: Require): readonly (readonly string[])[] {
  if (require === null) return [[]]
  return isAll(require) ? [require] : require.any.map((id) => [id])
}

function isMetBy(held: readonly string[], require: Require): boolean {
  if (require === null) return true
  const holds = (id: string): boolean => held.includes(id)
  return isAll(require) ? require.every(holds) : require.any.some(holds)
}

function isAll(require: NonNullable<Require>): require is readonly string[] {
  return Array.isArray(require)
}
