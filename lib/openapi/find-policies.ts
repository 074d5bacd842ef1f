import { basePathsOf, documentPath, withoutBasePaths } from './document-path.ts'
import type { DocumentedPolicy, DocumentedRoute } from './documented-route.ts'
import { draft } from './draft.ts'

/**
 * The policies of the routes that share one operation. Empty if the operation is not a route of
 * ours.
 */
export type FindPolicies = (method: string, path: string) => readonly DocumentedPolicy[]

/**
 * By method and path. Routes share a place in the document if only a constraint, a base path or a
 * regular expression tells them apart. @fastify/swagger shows the last one that is not hidden, but
 * a request may reach each of them.
 */
export function indexRoutes(routes: readonly DocumentedRoute[], document: unknown): FindPolicies {
  const basePaths = basePathsOf(draft(document)['servers'])
  const places = new Map<string, Map<string, DocumentedPolicy[]>>()
  for (const route of routes) {
    for (const path of placesOf(route, basePaths)) {
      const byMethod = entryOf(places, path, () => new Map<string, DocumentedPolicy[]>())
      for (const method of route.methods) {
        entryOf(byMethod, method.toUpperCase(), (): DocumentedPolicy[] => []).push(route.policy)
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
