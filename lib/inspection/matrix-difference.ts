import { grouped } from './grouped.ts'
import type { ConstrainedRoute } from './listed-routes.ts'
import { paired } from './paired.ts'
import { type PlaceDifference, placeDifferences } from './place-difference.ts'
import type { MatrixApplication, PolicyMatrix } from './policy-matrix.ts'
import { constraintsKey, placeWords } from './route-constraints.ts'
import type { Effect, RouteDifference } from './route-difference.ts'

/** One thing in which the policies of two matrices differ. */
export interface Difference extends RouteDifference {
  /**
   * `GET, HEAD /orders`, or `GET /orders (version 1.2.0)`. Where there are several applications,
   * `application 2: ` before it.
   */
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

/** A route whose constraints are shared too counts twice. */
function sharedPlaces(was: MatrixApplication, is: MatrixApplication): number {
  const names = (route: ConstrainedRoute): string[] => {
    return [placeOf(route), `${placeOf(route)} ${constraintsKey(route)}`]
  }
  const places = new Set(was.routes.flatMap(names))
  return is.routes.flatMap(names).filter((name) => places.has(name)).length
}

function placeOf({ method, url }: ConstrainedRoute): string {
  return `${method} ${url}`
}

function applicationDifferences(
  was: readonly ConstrainedRoute[],
  is: readonly ConstrainedRoute[],
): PlaceDifference[] {
  const before = grouped(was, placeOf)
  const after = grouped(is, placeOf)
  const places = new Set([...was, ...is].map(placeOf))
  return [...places].flatMap((place) =>
    placeDifferences(before.get(place) ?? [], after.get(place) ?? []),
  )
}

/** One difference for all methods of a route that it holds for: a GET route has a HEAD twin. */
function folded(differences: readonly PlaceDifference[], application: string): Difference[] {
  const alike = grouped(differences, ({ at, told, effect }) =>
    JSON.stringify([at.url, constraintsKey(at), told, effect]),
  )
  return [...alike.values()].flatMap((group) => {
    const methods = [...new Set(group.map(({ at }) => at.method))].join(', ')
    return group.slice(0, 1).map(({ effect, told, at }) => {
      return { effect, told, route: `${application}${methods} ${placeWords(at)}` }
    })
  })
}
