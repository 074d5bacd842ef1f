import { readDeclaration } from '../declaration/declaration.ts'
import { compilePolicy, type Policy, type PolicyRules } from '../declaration/policy.ts'
import type { Route } from '../declaration/route.ts'
import type { RouteRegister } from '../declaration/route-register.ts'
import { type Draft, draft, list } from './draft.ts'

/** A route as it may be found in a document. */
export interface DocumentedRoute {
  readonly methods: readonly string[]
  readonly url: string
  readonly policy: Policy
  /** False: the url is in the router's own spelling. */
  readonly seen: boolean
}

/** The routes of one guarded scope, with those that no `onRoute` saw. */
export function documentedRoutes(
  { seen, early = [] }: RouteRegister,
  rules: PolicyRules,
): DocumentedRoute[] {
  const strictly = ({ url }: Route) =>
    // A document shows that an early route is guarded, and that its path may have a tenant.
    compilePolicy({ url, ...readDeclaration({}), strict: true }, rules).policy
  const asDeclared = (route: Route) =>
    // An application that writes its document to a file may ask before ready, without a policy.
    route.policy ?? compilePolicy({ ...route, strict: false }, rules).policy
  const documented = (route: Route, isSeen: boolean): DocumentedRoute => ({
    methods: route.routedMethods,
    url: route.url,
    policy: isSeen ? asDeclared(route) : strictly(route),
    seen: isSeen,
  })
  return [
    ...early.map((route) => documented(route, false)),
    ...seen.map((route) => documented(route, true)),
  ]
}

/**
 * The policies of the routes that share one operation. Empty if the operation is not a route of
 * ours.
 */
export type FindPolicies = (method: string, path: string) => readonly Policy[]

/**
 * By method and path. Routes share a place in the document if only a constraint, a base path or a
 * regular expression tells them apart. @fastify/swagger shows the last one that is not hidden, but
 * a request may reach each of them.
 */
export function indexRoutes(routes: readonly DocumentedRoute[], document: unknown): FindPolicies {
  const basePaths = basePathsOf(draft(document)['servers'])
  const places = new Map<string, Map<string, Policy[]>>()
  for (const route of routes) {
    for (const path of placesOf(route, basePaths)) {
      const byMethod = entryOf(places, path, () => new Map<string, Policy[]>())
      for (const method of route.methods) {
        entryOf(byMethod, method.toUpperCase(), (): Policy[] => []).push(route.policy)
      }
    }
  }
  return (method, path) => places.get(path)?.get(method.toUpperCase()) ?? []
}

/**
 * The places where a route may stand: without the base paths, and with them. A document does not
 * tell whether it was written with `stripBasePath: false`. In one of the two readings, a hidden
 * route may have the place of another route.
 */
function placesOf({ url, seen }: DocumentedRoute, basePaths: readonly string[]): Set<string> {
  const urls = [url, withoutBasePaths(url, basePaths)]
  return new Set(urls.flatMap((each) => spellingsOf(each, seen)))
}

/** The router splits `/:tenant?` into two routes, and shows a literal colon as it is. */
function spellingsOf(url: string, seen: boolean): string[] {
  const path = documentPath(url)
  return seen ? [path] : [path, `${path}?`, url]
}

function entryOf<Value>(entries: Map<string, Value>, key: string, make: () => Value): Value {
  const value = entries.get(key) ?? make()
  entries.set(key, value)
  return value
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
      const end = isExpression ? endOfExpression(url, i) : i
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
 * The index of the parenthesis that closes the one at `start`. Escaped ones count, as in
 * @fastify/swagger.
 */
function endOfExpression(url: string, start: number): number {
  let depth = 0
  for (let i = start; i < url.length; i++) {
    if (url[i] === '(') depth++
    else if (url[i] === ')' && --depth === 0) return i
  }
  return url.length
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

/** The base paths of a document's `servers`. Variables have their defaults. */
export function basePathsOf(servers: unknown): string[] {
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
