import { placeOf } from './route-claims.ts'
import type { WrittenRoute } from './written-route.ts'

/**
 * The routes without those that Fastify refused to add. Fastify refuses a route if its place is
 * taken, or if a route like it is written later and gets the place.
 */
export function addedRoutes(routes: readonly WrittenRoute[]): readonly WrittenRoute[] {
  const later = new Map<string, WrittenRoute[]>()
  const kept = routes.toReversed().filter((route) => {
    const place = placeOf(route)
    const alike = later.get(place) ?? []
    later.set(place, alike)
    if (route.freeMethods.length === 0 || alike.some((other) => route.isReplacedBy(other))) {
      return false
    }
    alike.push(route)
    return true
  })
  return kept.reverse()
}
