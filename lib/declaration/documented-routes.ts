import { earlyPlaces, routePlaces } from '../inspection/listed-routes.ts'
import type { DocumentedRoute } from '../openapi/documented-route.ts'
import { compilePolicy, type Policy, type PolicyRules } from './policy.ts'
import type { RouteRegister } from './route-register.ts'

/**
 * What a document may tell of the routes of one guarded scope. Routes that no `onRoute` saw are
 * included.
 */
export function documentedRoutes(register: RouteRegister, rules: PolicyRules): DocumentedRoute[] {
  const policyOf = (url: string, config: object, strict: boolean): Policy =>
    compilePolicy({ url, config, strict }, rules).policy
  const seen = register.seen.flatMap((route) => {
    // An application that writes its document to a file may ask before ready. There is no policy
    // yet.
    const policy = route.policy ?? policyOf(route.url, route.config, false)
    return routePlaces(route).map(({ method, url }) => ({
      methods: [method],
      url,
      policy,
      seen: true,
    }))
  })
  // Of these routes two things are known: they are guarded, and their path may have a tenant.
  const unseen = earlyPlaces(register).map(({ method, url }) => ({
    methods: [method],
    url,
    policy: policyOf(url, {}, true),
    seen: false,
  }))
  return [...unseen, ...seen]
}
