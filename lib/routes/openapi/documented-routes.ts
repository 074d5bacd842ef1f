import { earlyPlaces, placesOf } from '../listed-routes.ts'
import { compilePolicy, type Policy, type PolicyRules } from '../policy.ts'
import type { RouteRegister } from '../route-register.ts'
import { basePathsOf, documentPath, withoutBasePaths } from './document-path.ts'

/** A route as it may be found in a document. */
export interface DocumentedRoute {
  readonly methods: readonly string[]
  readonly url: string
  readonly policy: Policy
  /** False: the url is the router's own spelling of it. */
  readonly seen: boolean
}

/** The routes of one guarded scope, those that no `onRoute` saw too. */
export function documentedRoutes(register: RouteRegister, rules: PolicyRules): DocumentedRoute[] {
  const policyOf = (url: string, config: object, strict: boolean): Policy =>
    compilePolicy({ url, config, strict }, rules).policy
  const seen = register.seen.flatMap((route) => {
    // Before ready, for an application that writes its document to a file, there is none yet.
    const policy = route.policy ?? policyOf(route.url, route.config, false)
    return placesOf(route, register).map(({ method, url }) => ({
      methods: [method],
      url,
      policy,
      seen: true,
    }))
  })
  // Nothing is known of these but that they are guarded, and where their path has a tenant.
  const unseen = earlyPlaces(register).map(({ method, url }) => ({
    methods: [method],
    url,
    policy: policyOf(url, {}, true),
    seen: false,
  }))
  return [...unseen, ...seen]
}

/** Finds the policy of a document's operation; undefined where the operation is no route of ours. */
export type FindPolicy = (method: string, path: string) => Policy | undefined

/**
 * By method and path. Where @fastify/swagger gives several routes one place in the document, the last one has it, here
 * as there.
 */
export function indexRoutes(
  routes: Iterable<DocumentedRoute>,
  document: { readonly servers?: unknown; readonly paths?: unknown },
): FindPolicy {
  const basePaths = strippedBasePaths(document)
  const policies = new Map<string, Policy>()
  for (const { methods, url, policy, seen } of routes) {
    const rest = withoutBasePaths(url, basePaths)
    const path = documentPath(rest)
    // The router splits `/:tenant?` into two routes, and shows a literal colon as it is.
    const paths = seen ? [path] : [path, `${path}?`, rest]
    for (const method of methods) {
      for (const spelling of paths) policies.set(`${method.toUpperCase()} ${spelling}`, policy)
    }
  }
  return (method, path) => policies.get(`${method.toUpperCase()} ${path}`)
}

/** With `stripBasePath: false` the document's paths still begin with them. */
function strippedBasePaths({
  servers,
  paths,
}: {
  readonly servers?: unknown
  readonly paths?: unknown
}): string[] {
  const written = Object.keys(paths ?? {})
  return basePathsOf(servers).filter(
    (basePath) => !written.some((path) => path.startsWith(basePath)),
  )
}
