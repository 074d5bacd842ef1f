import type { ListedRoute } from '../../../routes/route-list.ts'

type Require = ListedRoute['require']

/** What a difference does: it lets somebody in, or keeps somebody out, or neither. */
export type Effect = 'opens' | 'closes' | 'changes'

export interface RouteDifference {
  readonly effect: Effect
  /** What was and what is, such as `was guarded, is open`. */
  readonly told: string
}

/** What differs in one route. What it declares to receive decides nothing and is left out. */
export function routeDifferences(was: ListedRoute, is: ListedRoute): RouteDifference[] {
  if (was.noauth !== is.noauth) {
    // A policy that is not known may be any.
    const effect = was.noauth === true ? 'closes' : 'opens'
    return [{ effect, told: `was ${accessWords(was)}, is ${accessWords(is)}` }]
  }
  return [...tenantDifference(was, is), ...requireDifference(was, is)]
}

/** A policy in words: `open`, `guarded, tenant in the path, require a:b`. */
export function policyWords(route: ListedRoute): string {
  if (route.noauth !== false) return accessWords(route)
  const tenant = `tenant ${tenantWords(route)}`
  return `guarded, ${tenant}, require ${requirementWords(route.require)}`
}

function accessWords({ noauth }: ListedRoute): string {
  if (noauth === null) return 'not known (written before the plugin)'
  return noauth ? 'open' : 'guarded'
}

const TENANT_WORDS = {
  path: 'in the path',
  query: 'in the query',
  optional: 'optional in the query',
} as const

const TENANT_STRICTNESS = { path: 2, query: 2, optional: 1 } as const

function tenantWords({ tenant }: ListedRoute): string {
  return tenant === null ? 'none' : TENANT_WORDS[tenant]
}

function tenantStrictness({ tenant }: ListedRoute): number {
  return tenant === null ? 0 : TENANT_STRICTNESS[tenant]
}

function tenantDifference(was: ListedRoute, is: ListedRoute): RouteDifference[] {
  if (was.tenant === is.tenant) return []
  const told = `tenant was ${tenantWords(was)}, is ${tenantWords(is)}`
  // In a tenant, a user may hold what is required who does not hold it everywhere.
  const letsMembersIn = was.tenant === null && is.require !== null
  if (letsMembersIn) return [{ effect: 'opens', told }]
  const more = tenantStrictness(is) - tenantStrictness(was)
  if (more === 0) return [{ effect: 'changes', told }]
  return [{ effect: more < 0 ? 'opens' : 'closes', told }]
}

/** If one user meets the new requirement who did not meet the old one, something opens. */
function requireDifference(was: ListedRoute, is: ListedRoute): RouteDifference[] {
  if (isAlike(was.require, is.require)) return []
  const told = `require was ${requirementWords(was.require)}, is ${requirementWords(is.require)}`
  if (!implies(is.require, was.require)) return [{ effect: 'opens', told }]
  return [{ effect: implies(was.require, is.require) ? 'changes' : 'closes', told }]
}

/** Whether each user who meets `stricter` meets `looser` too. */
function implies(stricter: Require, looser: Require): boolean {
  return leastHeld(stricter).every((held) => isMetBy(held, looser))
}

/** Whether two requirements are written alike, in any order. */
function isAlike(a: Require, b: Require): boolean {
  return requirementWords(a) === requirementWords(b)
}

/** What a requirement asks for: `a:b and c:d`, `any of a:b, c:d`, `none`, `what cannot be held`. */
export function requirementWords(require: Require): string {
  if (require === null) return 'none'
  const ids = [...new Set(idsOf(require))].sort()
  // So it is where a declaration is wrong and yet does not stop the boot.
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

function idsOf(require: NonNullable<Require>): readonly string[] {
  return isAll(require) ? require : require.any
}

function isAll(require: NonNullable<Require>): require is readonly string[] {
  return Array.isArray(require)
}
