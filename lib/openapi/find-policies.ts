import { basePathsOf, documentPath, withoutBasePaths } from './document-path.ts'
import type { DocumentedPolicy, DocumentedRoute } from './documented-route.ts'
import { draft } from './draft.ts'

/** The policies of the routes that share one operation; empty for one that is no route of ours. */
export type FindPolicies = (method: string, path: string) => readonly DocumentedPolicy[]

/**
 * By method and path. Routes share a place in the document where only a constraint, a base path or
 * a regular expression tells them apart. @fastify/swagger shows the last one that is not hidden.
 * A request may reach each of them.
 */
export function indexRoutes(routes: readonly DocumentedRoute[], document: unknown): FindPolicies {
  const { servers, paths } = draft(document)
  const documented = Object.keys(draft(paths))
  const known = (places: Places): number => documented.filter((path) => places.has(path)).length
  const stripped = placesOf(routes, basePathsOf(servers))
  const whole = placesOf(routes, [])
  // Only the document's paths show whether it was written with `stripBasePath: false`.
  const places = known(whole) > known(stripped) ? whole : stripped
  return (method, path) => places.get(path)?.get(method.toUpperCase()) ?? []
}

/** Policies by path, and then by method. */
type Places = ReadonlyMap<string, ReadonlyMap<string, readonly DocumentedPolicy[]>>

function placesOf(routes: readonly DocumentedRoute[], basePaths: readonly string[]): Places {
  const places = new Map<string, Map<string, DocumentedPolicy[]>>()
  for (const { methods, url, policy, seen } of routes) {
    for (const path of spellingsOf(withoutBasePaths(url, basePaths), seen)) {
      const byMethod = entryOf(places, path, () => new Map<string, DocumentedPolicy[]>())
      for (const method of methods) {
        entryOf(byMethod, method.toUpperCase(), (): DocumentedPolicy[] => []).push(policy)
      }
    }
  }
  return places
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
