import { readDeclaration } from '../routes/declaration.ts'
import { compilePolicy, type Policy, type PolicyRules } from '../routes/policy.ts'
import type { Route } from '../routes/route.ts'
import { endOfExpression, withAndWithoutOptional } from '../routes/route-path.ts'
import type { RouteRegistry } from '../routes/route-registry.ts'
import { type Draft, draft, list } from './operation.ts'

/** A route as it may be found in a document. */
export interface DocumentedRoute {
  readonly methods: readonly string[]
  readonly url: string
  readonly policy: Policy
}

/** The routes of one guarded scope, with those that no `onRoute` saw. */
export function documentedRoutes(
  { seen, early = [] }: RouteRegistry,
  rules: PolicyRules,
): DocumentedRoute[] {
  const documented = (route: Route, policy: Policy) => {
    const { routedMethods: methods, url } = route
    return { methods, url, policy }
  }
  return [
    // A document shows that an early route is guarded, and that its path may have a tenant.
    ...early.map((route) => {
      const undeclared = { url: route.url, ...readDeclaration({}), strict: true }
      return documented(route, compilePolicy(undeclared, rules).policy)
    }),
    // An application that writes its document to a file may ask before ready, without a policy.
    ...seen.map((route) =>
      documented(route, route.policy ?? compilePolicy({ ...route, strict: false }, rules).policy),
    ),
  ]
}

/**
 * The policies of the routes that share one operation. Empty if the operation is not a route of
 * ours.
 */
type FindPolicies = (method: string, path: string) => readonly Policy[]

/**
 * By method and path. Routes share a place in the document if they differ only by a constraint, a
 * base path or a regular expression. @fastify/swagger shows the last one that is not hidden, but
 * a request may reach each of them.
 */
export function indexRoutes(routes: readonly DocumentedRoute[], document: unknown): FindPolicies {
  const basePaths = basePathsOf(draft(document)['servers'])
  const policies = new Map<string, Policy[]>()
  for (const { url, methods, policy } of routes) {
    // A document does not show whether it was written with `stripBasePath: false`. In one of the
    // two readings, a hidden route may have the place of another route.
    const urls = [url, ...withAndWithoutOptional(url)]
    const paths = new Set(
      urls.flatMap((each) => [each, withoutBasePaths(each, basePaths)]).map(documentPath),
    )
    for (const place of [...paths].flatMap((path) => methods.map((each) => placeOf(each, path)))) {
      policies.set(place, [...(policies.get(place) ?? []), policy])
    }
  }
  return (method, path) => policies.get(placeOf(method, path)) ?? []
}

function placeOf(method: string, path: string): string {
  return `${method.toUpperCase()} ${path}`
}

const NAME = /^\w+/

/**
 * A route's url as @fastify/swagger writes it: `/:tenant/x` is `/{tenant}/x`, `*` is `{*}`, a
 * regular expression is left out, `::` is a colon. The result must be the same to the letter,
 * because another spelling is another path.
 */
export function documentPath(url: string): string {
  let path = ''
  let unnamed = 0
  for (let i = 0; i < url.length; i++) {
    const char = url[i]
    if (char === ':' && url[i + 1] === ':') {
      path += ':'
      i++
    } else if (char === ':' || char === '(') {
      const name = char === ':' ? (NAME.exec(url.slice(i + 1))?.[0] ?? '') : ''
      i += char === ':' ? name.length + 1 : 0
      const isExpression = url[i] === '('
      // Escaped parentheses count, as in @fastify/swagger.
      const end = isExpression ? endOfExpression(url, i, false) : i
      // A parenthesis that is never closed takes in the rest, and the parameter with it.
      if (end === url.length && (isExpression || name === '')) return path
      path += `{${isExpression && name === '' ? `regexp${++unnamed}` : name}}`
      // The character that ends a name is taken as it is.
      if (!isExpression) path += url[end] ?? ''
      i = end
    } else {
      path += char === '*' ? '{*}' : char
    }
  }
  return path
}

/**
 * A url without the base paths of a document's servers. By default @fastify/swagger takes them off.
 */
export function withoutBasePaths(url: string, basePaths: readonly string[]): string {
  return basePaths.reduce(
    (rest, basePath) => (rest.startsWith(basePath) ? rest.slice(basePath.length) : rest),
    url,
  )
}

function basePathsOf(servers: unknown): string[] {
  return list(servers)
    .map((server) => basePathOf(draft(server)))
    .filter((basePath) => basePath !== '/' && basePath !== '')
}

function basePathOf({ url, variables }: Draft): string {
  if (typeof url !== 'string') return ''
  const values = draft(variables)
  const resolved = url.replaceAll(/\{([^{}]+)\}/g, (variable, name: string) => {
    const { default: value } = draft(values[name])
    return value === Object(value) ? variable : String(value)
  })
  if (resolved.startsWith('/')) return resolved
  return URL.canParse(resolved) ? new URL(resolved).pathname : ''
}
