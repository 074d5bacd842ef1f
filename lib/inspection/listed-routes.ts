import type { Requirement } from '../declaration/declaration.ts'
import type { Policy } from '../declaration/policy.ts'
import type { RouteRegister } from '../declaration/route-register.ts'
import type { WrittenRoute } from '../declaration/written-route.ts'
import type { TenantPlace } from '../tenants/resolve-tenant.ts'
import { printedRoutes } from './printed-routes.ts'
import { isPrinted, unseenRoutes } from './unseen-routes.ts'

/** One route, as `authService.routes()` lists it. */
export interface ListedRoute {
  readonly method: string
  readonly url: string
  /** Null where the policy is not known. */
  readonly noauth: boolean | null
  /** Where the tenant stands; null: nowhere, or the policy is not known. */
  readonly tenant: TenantPlace
  /** The ids that must be held: all of a list, or any; null: none, or the policy is not known. */
  readonly require: readonly string[] | { readonly any: readonly string[] } | null
  /** False for a route that was written before the plugin had loaded: it is guarded, in the stricter reading. */
  readonly seen: boolean
  /** Whether the route declares `userInfo`. Null where the policy is not known. */
  readonly userInfo: boolean | null
  /** Whether the route declares `resources`. Null where the policy is not known. */
  readonly resources: boolean | null
  /** Whether the route declares `authorization`. Null where the policy is not known. */
  readonly authorization: boolean | null
}

/** A route's method and one of its urls. */
export interface ListedPlace {
  readonly method: string
  readonly url: string
}

/** Every route of a guarded scope, with its policy. */
export function listRoutes(register: RouteRegister): ListedRoute[] {
  const seen = register.seen.flatMap((route) =>
    routePlaces(route, register).map((place) => ({ ...place, ...shown(route.policy), seen: true })),
  )
  const early = earlyPlaces(register).map((place) => ({ ...place, ...UNKNOWN, seen: false }))
  return [...seen, ...early]
}

/** Where the routes stand that no `onRoute` saw. */
export function earlyPlaces(register: RouteRegister): readonly ListedPlace[] {
  const { early, scope, guardName } = register
  if (early) return early.flatMap((route) => routePlaces(route, register))
  const guarded = printedRoutes(scope, 'onRequest').filter(({ hooks }) => hooks.includes(guardName))
  const seen = register.seen.flatMap(({ methods, urls }) =>
    methods.flatMap((method) => urls.map((url) => ({ method, url }))),
  )
  return unseenRoutes(guarded, seen).map(({ method, url }) => ({ method, url }))
}

/** Each method and url of a route, without those that Fastify refused to add. */
export function routePlaces(
  route: WrittenRoute,
  { scope }: Pick<RouteRegister, 'scope'>,
): readonly ListedPlace[] {
  const methods = route.routedMethods
  const all = (names: readonly string[]): readonly ListedPlace[] =>
    names.flatMap((method) => route.urls.map((url) => ({ method, url })))
  if (methods.length > 0) return all(methods)
  // The router may spell the path in another way, or may have refused it: what it prints has the last word.
  const printed = printedRoutes(scope)
  return all(route.freeMethods).filter((place) => isPrinted(place, printed))
}

const UNKNOWN = {
  noauth: null,
  tenant: null,
  require: null,
  userInfo: null,
  resources: null,
  authorization: null,
} as const

function shown(policy: Policy | undefined): Omit<ListedRoute, 'method' | 'url' | 'seen'> {
  if (policy === undefined) return UNKNOWN
  const { noauth, tenant, requirement, declared } = policy
  const { userInfo, resources, authorization } = declared
  return { noauth, tenant, require: ids(requirement), userInfo, resources, authorization }
}

function ids(requirement: Requirement | null): ListedRoute['require'] {
  if (requirement === null) return null
  return requirement.mode === 'any' ? { any: requirement.ids } : requirement.ids
}
