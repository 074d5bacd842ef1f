import { routePlaces } from '../inspection/listed-routes.ts'
import type { DocumentedRoute } from '../openapi/documented-route.ts'
import { readDeclaration } from './declaration.ts'
import { compilePolicy, type PolicyRules } from './policy.ts'
import type { Route } from './route.ts'
import type { RouteRegister } from './route-register.ts'

/**
 * What a document may tell of the routes of one guarded scope. Routes that no `onRoute` saw are
 * included.
 */
export function documentedRoutes(
  { seen, early = [] }: RouteRegister,
  rules: PolicyRules,
): DocumentedRoute[] {
  return [...documented(early, rules, false), ...documented(seen, rules, true)]
}

/** Of an early route the document shows that it is guarded, and that its path may have a tenant. */
function documented(
  routes: readonly Route[],
  rules: PolicyRules,
  seen: boolean,
): DocumentedRoute[] {
  return routes.flatMap((route) => {
    const { url } = route
    // An application that writes its document to a file may ask before ready. There is no policy
    // yet.
    const known = route.policy ?? compilePolicy({ ...route, strict: !seen }, rules).policy
    const policy = seen ? known : compilePolicy({ url, ...NOTHING, strict: true }, rules).policy
    return routePlaces(route).map(({ method }) => ({ methods: [method], url, policy, seen }))
  })
}

const NOTHING = readDeclaration({})
