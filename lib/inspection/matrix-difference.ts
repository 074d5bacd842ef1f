import { grouped } from './grouped.ts'
import type { ListedRoute } from './listed-routes.ts'
import { paired } from './paired.ts'
import type { MatrixApplication, PolicyMatrix } from './policy-matrix.ts'
import {
  type Effect,
  goneRoute,
  newRoute,
  type RouteDifference,
  routeDifferences,
} from './route-difference.ts'

/** One thing in which the policies of two matrices differ. */
export interface Difference extends RouteDifference {
  /** `GET, HEAD /orders`. Where there are several applications, `application 2: ` before it. */
  readonly route: string
}

const EFFECTS: readonly Effect[] = ['opens', 'closes', 'changes']

/**
 * All in which the policies differ. What opens something comes first, then what closes something.
 * Order, and what a route declares to receive, make no difference.
 */
export function matrixDifferences(was: PolicyMatrix, is: PolicyMatrix): Difference[] {
  const pairs = paired(was.applications, is.applications, sharedPlaces)
  const found = pairs.flatMap(([before, after], index) => {
    const differences = applicationDifferences(before?.routes ?? [], after?.routes ?? [])
    return folded(differences, pairs.length === 1 ? '' : `application ${index + 1}: `)
  })
  const all = [...countDifference(was.applications.length, is.applications.length), ...found]
  return EFFECTS.flatMap((effect) => all.filter((difference) => difference.effect === effect))
}

/** An application may have no routes. */
function countDifference(was: number, is: number): Difference[] {
  if (was === is) return []
  const told = `were ${was}, are ${is}`
  return [{ effect: is < was ? 'closes' : 'changes', route: 'guarded applications', told }]
}

function sharedPlaces(was: MatrixApplication, is: MatrixApplication): number {
  const places = new Set(was.routes.map(placeOf))
  return is.routes.filter((route) => places.has(placeOf(route))).length
}

function placeOf({ method, url }: ListedRoute): string {
  return `${method} ${url}`
}

interface PlacedDifference extends RouteDifference {
  readonly method: string
  readonly url: string
}

function applicationDifferences(
  was: readonly ListedRoute[],
  is: readonly ListedRoute[],
): PlacedDifference[] {
  const before = grouped(was, placeOf)
  const after = grouped(is, placeOf)
  const places = grouped([...was, ...is], placeOf)
  return [...places].flatMap(([place, routes]) =>
    placeDifferences(before.get(place) ?? [], after.get(place) ?? []).flatMap((difference) =>
      routes.slice(0, 1).map(({ method, url }) => ({ ...difference, method, url })),
    ),
  )
}

/** One place may have several routes: for versions, for hosts. */
function placeDifferences(
  was: readonly ListedRoute[],
  is: readonly ListedRoute[],
): RouteDifference[] {
  const likeness = (a: ListedRoute, b: ListedRoute): number => -routeDifferences(a, b).length
  return paired(was, is, likeness).flatMap(([before, after]) => {
    if (after === undefined) return [goneRoute(before)]
    return before === undefined ? [newRoute(after)] : routeDifferences(before, after)
  })
}

/** One difference for all methods of a url that it holds for: a GET route has a HEAD twin. */
function folded(differences: readonly PlacedDifference[], application: string): Difference[] {
  const alike = grouped(differences, ({ url, told }) => JSON.stringify([url, told]))
  return [...alike.values()].flatMap((group) => {
    const methods = [...new Set(group.map(({ method }) => method))].join(', ')
    return group.slice(0, 1).map(({ effect, told, url }) => {
      return { effect, told, route: `${application}${methods} ${url}` }
    })
  })
}
