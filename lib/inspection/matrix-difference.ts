import { grouped } from './grouped.ts'
import type { ListedPlace, ListedRoute } from './listed-routes.ts'
import { paired } from './paired.ts'
import type { MatrixApplication, PolicyMatrix } from './policy-matrix.ts'
import { RemainingRoutes } from './remaining-routes.ts'
import {
  type Effect,
  newRoute,
  type RouteDifference,
  routeDifferences,
} from './route-difference.ts'

/** One thing in which the policies of two matrices differ. */
export interface Difference extends RouteDifference {
  /** `GET, HEAD /orders`. Where there are several applications, `application 2: ` before it. */
  readonly route: string
}

/** The places that a program serves outside of every guard, so that no matrix holds them. */
export interface UncoveredPlaces {
  /** Beside the guarded routes, of each application of the matrix. */
  readonly beside: readonly (readonly ListedPlace[])[]
  /** Of the Fastify instances that have no guard. */
  readonly unguarded: readonly ListedPlace[]
}

const NONE: UncoveredPlaces = { beside: [], unguarded: [] }

const EFFECTS: readonly Effect[] = ['opens', 'closes', 'changes']

/**
 * All in which the policies differ. What opens something comes first, then what closes something.
 * Order, and what a route declares to receive, make no difference.
 *
 * @param uncovered what there is now: a route that is gone may be there without its guard
 */
export function matrixDifferences(
  was: PolicyMatrix,
  is: PolicyMatrix,
  uncovered: UncoveredPlaces = NONE,
): Difference[] {
  const { beside, unguarded } = uncovered
  const anywhere = [...beside.flat(), ...unguarded]
  const pairs = paired(was.applications, is.applications, sharedPlaces)
  const found = pairs.map(([before, after], index) => {
    const guarded = after?.routes ?? []
    // An application without a guard is one of those that have none.
    const own = after === undefined ? unguarded : (beside[index] ?? [])
    const remaining = new RemainingRoutes({ guarded, uncovered: own, anywhere })
    const differences = applicationDifferences(before?.routes ?? [], guarded, remaining)
    return folded(differences, pairs.length === 1 ? '' : `application ${index + 1}: `)
  })
  const lost = found.slice(is.applications.length).flat()
  const all = [
    ...countDifference(was.applications.length, is.applications.length, lost),
    ...found.flat(),
  ]
  return EFFECTS.flatMap((effect) => all.filter((difference) => difference.effect === effect))
}

/**
 * An application may have no routes. One that has lost its guard may be there still.
 *
 * @param lost what the loss of applications does to their routes
 */
function countDifference(was: number, is: number, lost: readonly Difference[]): Difference[] {
  if (was === is) return []
  const effect = lost.some((each) => each.effect === 'opens') ? 'opens' : 'changes'
  return [{ effect, route: 'guarded applications', told: `were ${was}, are ${is}` }]
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
  remaining: RemainingRoutes,
): PlacedDifference[] {
  const before = grouped(was, placeOf)
  const after = grouped(is, placeOf)
  const places = grouped([...was, ...is], placeOf)
  return [...places].flatMap(([place, routes]) =>
    placeDifferences(before.get(place) ?? [], after.get(place) ?? [], remaining).flatMap(
      (difference) => routes.slice(0, 1).map(({ method, url }) => ({ ...difference, method, url })),
    ),
  )
}

/** One place may have several routes: for versions, for hosts. */
function placeDifferences(
  was: readonly ListedRoute[],
  is: readonly ListedRoute[],
  remaining: RemainingRoutes,
): RouteDifference[] {
  const likeness = (a: ListedRoute, b: ListedRoute): number => -routeDifferences(a, b).length
  return paired(was, is, likeness).flatMap(([before, after]) => {
    if (after === undefined) return [remaining.differenceOf(before)]
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
