import type { StepUp } from '../errors.ts'
import type { Policy } from './policy.ts'
import type { Route } from './route.ts'
import { jsonConstraints, type RouteConstraints } from './route-constraints.ts'
import type { RouteRegistry } from './route-registry.ts'

/** One route, as `authService.routes()` lists it. */
export interface ListedRoute {
  readonly method: string
  readonly url: string
  /** Null if the policy is not known. */
  readonly noauth: boolean | null
  /** The place of the tenant. Null: there is none, or the policy is not known. */
  readonly tenant: 'path' | 'query' | 'optional' | null
  /**
   * The ids that must be held: all of a list, any of it, or those among it that the route's
   * function chooses by the request. Null: no ids, or the policy is not known.
   */
  readonly require:
    | readonly string[]
    | { readonly any: readonly string[] }
    | { readonly among: readonly string[] }
    | null
  /** True: it is for guests, too. Absent: it is not, or the policy is not known. */
  readonly guests?: true
  /** True: it serves suspended tenants. Absent: it does not, or the policy is not known. */
  readonly suspended?: true
  /** True: the tenant is decided after the body. Absent: before, or the policy is not known. */
  readonly late?: true
  /** The names of the checks that must hold. Absent: none, or the policy is not known. */
  readonly check?: readonly string[]
  /** A token must be bound to its sender. Absent: it need not, or the policy is not known. */
  readonly confirmation?: 'require'
  /** The login that is wanted. Absent: any, or the policy is not known. */
  readonly stepUp?: StepUp
  /**
   * False for a route that was written before the plugin had loaded. It is guarded, and read
   * strictly.
   */
  readonly seen: boolean
  /** True: the route declares `userInfo`. Null: the policy is not known. */
  readonly userInfo: boolean | null
  /** True: the route declares `resources`. Null: the policy is not known. */
  readonly resources: boolean | null
  /** True: the route declares `authorization`. Null: the policy is not known. */
  readonly authorization: boolean | null
}

/** A route's method and one of its urls. */
export interface ListedPlace {
  readonly method: string
  readonly url: string
  /** Absent: it has none, or they cannot be known. */
  readonly constraints?: RouteConstraints
}

type PolicyMembers = Omit<ListedRoute, 'method' | 'url' | 'seen'>

/**
 * An entry of `routes()` with members that are not enumerable there, because its own members are
 * fixed.
 */
export interface ConstrainedRoute extends ListedRoute {
  /** The constraints of the route. Absent: it has none, or they cannot be known. */
  readonly constraints?: RouteConstraints
  /** The policy of a route that no `onRoute` saw. Absent: it was seen, or it cannot be known. */
  readonly early?: PolicyMembers
}

/** Every route of a guarded scope, with its policy. */
export function listRoutes(inspected: Pick<RouteRegistry, 'seen' | 'early'>): ConstrainedRoute[] {
  const seen = inspected.seen.flatMap((route) =>
    routePlaces(route).map((place) =>
      entryOf(place, { ...policyMembers(route.policy), seen: true }),
    ),
  )
  const early = inspected.early?.flatMap((route) =>
    routePlaces(route).map((place) => entryOf(place, NOT_SEEN, earlyPolicy(route.policy))),
  )
  return [...seen, ...(early ?? [])]
}

/** An entry of `routes()` with all its members enumerable. */
export function wholeRoute({
  constraints = {},
  early,
  ...route
}: ConstrainedRoute): ConstrainedRoute {
  const written = jsonConstraints(constraints)
  return { ...route, ...early, ...(written && { constraints: written }) }
}

/** Each method and url of a route, without those that Fastify refused to add. */
export function routePlaces(route: Route): readonly ListedPlace[] {
  const { url } = route
  const constraints = jsonConstraints(route.constraints)
  return route.routedMethods.map((method) => ({ method, url, ...(constraints && { constraints }) }))
}

function entryOf(
  { method, url, constraints }: ListedPlace,
  policy: Omit<ListedRoute, 'method' | 'url'>,
  early?: PolicyMembers,
): ConstrainedRoute {
  return Object.defineProperties(
    { method, url, ...policy },
    {
      ...(constraints && { constraints: { value: constraints } }),
      ...(early && { early: { value: early } }),
    },
  )
}

const UNKNOWN = {
  noauth: null,
  tenant: null,
  require: null,
  userInfo: null,
  resources: null,
  authorization: null,
} as const

const NOT_SEEN = { ...UNKNOWN, seen: false }

/** In the stricter reading an optional tenant is required. */
function earlyPolicy(policy: Policy | undefined): PolicyMembers | undefined {
  return policy && { ...policyMembers(policy), tenant: policy.tenant }
}

function policyMembers(policy: Policy | undefined): PolicyMembers {
  if (policy === undefined) return UNKNOWN
  const { noauth, requirement, declared } = policy
  const { userInfo, resources, authorization } = declared
  const isOptional = policy.tenant === 'query' && declared.tenant === 'optional'
  const tenant = isOptional ? 'optional' : policy.tenant
  return {
    noauth,
    tenant,
    require: ids(requirement),
    userInfo,
    resources,
    authorization,
    ...(policy.guests && { guests: true }),
    ...(policy.suspended && { suspended: true }),
    ...(policy.late && { late: true }),
    ...(policy.checks && { check: policy.checks }),
    ...(policy.mustBeBound && !noauth && { confirmation: 'require' }),
    ...(policy.stepUp && { stepUp: policy.stepUp }),
  }
}

function ids(requirement: Policy['requirement']): ListedRoute['require'] {
  if (requirement === null) return null
  if (requirement.mode === 'by') return { among: requirement.ids }
  return requirement.mode === 'any' ? { any: requirement.ids } : requirement.ids
}
