import type {
  InspectedPolicy,
  InspectedRequirement,
  InspectedRoute,
  InspectedScope,
} from './inspected-scope.ts'
import type { ListedRoute } from './listed-route.ts'
import { type RouteConstraints, writtenConstraints } from './route-constraints.ts'

/** A route's method and one of its urls. */
export interface ListedPlace {
  readonly method: string
  readonly url: string
  /** Absent: it has none, or they cannot be known. */
  readonly constraints?: RouteConstraints
}

type ShownPolicy = Omit<ListedRoute, 'method' | 'url' | 'seen'>

/**
 * An entry of `routes()` with what more is known of it. In such an entry that is not enumerable:
 * its members are fixed.
 */
export interface ConstrainedRoute extends ListedRoute {
  /** What tells it from others of its method and url. Absent: nothing, or it cannot be known. */
  readonly constraints?: RouteConstraints
  /** The policy of a route that no `onRoute` saw. Absent: it was seen, or it cannot be known. */
  readonly early?: ShownPolicy
}

/** Every route of a guarded scope, with its policy. */
export function listRoutes(inspected: InspectedScope): ConstrainedRoute[] {
  const seen = inspected.seen.flatMap((route) =>
    routePlaces(route).map((place) => listed(place, { ...shown(route.policy), seen: true })),
  )
  const early = inspected.early?.flatMap((route) =>
    routePlaces(route).map((place) => listed(place, UNSEEN, earlyPolicy(route.policy))),
  )
  return [...seen, ...(early ?? [])]
}

/** An entry of `routes()` with all that is known of it, as members like others. */
export function wholeRoute({
  constraints = {},
  early,
  ...route
}: ConstrainedRoute): ConstrainedRoute {
  const written = writtenConstraints(constraints)
  return { ...route, ...early, ...(written && { constraints: written }) }
}

/** The places of the routes that no `onRoute` saw, as far as they are known. */
export function earlyPlaces({ early = [] }: InspectedScope): readonly ListedPlace[] {
  return early.flatMap(routePlaces)
}

/** Each method and url of a route, without those that Fastify refused to add. */
export function routePlaces(route: InspectedRoute): readonly ListedPlace[] {
  const { url } = route
  const constraints = writtenConstraints(route.constraints)
  return route.routedMethods.map((method) => ({
    method,
    url,
    ...(constraints && { constraints }),
  }))
}

function listed(
  { method, url, constraints }: ListedPlace,
  policy: Omit<ListedRoute, 'method' | 'url'>,
  early?: ShownPolicy,
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

const UNSEEN = { ...UNKNOWN, seen: false }

/** In the stricter reading an optional tenant is required. */
function earlyPolicy(policy: InspectedPolicy | undefined): ShownPolicy | undefined {
  return policy && { ...shown(policy), tenant: policy.tenant }
}

function shown(policy: InspectedPolicy | undefined): ShownPolicy {
  if (policy === undefined) return UNKNOWN
  const { noauth, requirement, declared } = policy
  const { userInfo, resources, authorization } = declared
  const isOptional = policy.tenant === 'query' && declared.tenant === 'optional'
  const tenant = isOptional ? 'optional' : policy.tenant
  return { noauth, tenant, require: ids(requirement), userInfo, resources, authorization }
}

function ids(requirement: InspectedRequirement | null): ListedRoute['require'] {
  if (requirement === null) return null
  return requirement.mode === 'any' ? { any: requirement.ids } : requirement.ids
}
