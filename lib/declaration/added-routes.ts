import { placeOf } from './route-claims.ts'
import type { WrittenRoute } from './written-route.ts'

/**
 * Without the routes that Fastify refused: their place was taken, or was free still for another
 * like them.
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
