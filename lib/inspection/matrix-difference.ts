import { grouped } from './grouped.ts'
import type { ConstrainedRoute, ListedPlace } from './listed-routes.ts'
import { paired } from './paired.ts'
import { type PlaceDifference, placeDifferences } from './place-difference.ts'
import type { MatrixApplication, PolicyMatrix } from './policy-matrix.ts'
import { RemainingRoutes } from './remaining-routes.ts'
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
  const lost = pairs.map(([before, after]) => lostRoutes(before, after))
  const found = pairs.map(([before, after], index) => {
    const guarded = after?.routes ?? []
    // An application without a guard is one of those that have none.
    const own = after === undefined ? unguarded : (beside[index] ?? [])
    const remaining = new RemainingRoutes({ guarded, uncovered: own, anywhere })
    const lostElsewhere = lost.flatMap((routes, each) => (each === index ? [] : routes))
    const differences = applicationDifferences(before?.routes ?? [], guarded, {
      remaining,
      lostElsewhere,
    })
    return folded(differences, pairs.length === 1 ? '' : `application ${index + 1}: `)
  })
  const ofLost = found.slice(is.applications.length).flat()
  const all = [
    ...countDifference(was.applications.length, is.applications.length, ofLost),
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

/** A route whose constraints are shared too counts twice. */
function sharedPlaces(was: MatrixApplication, is: MatrixApplication): number {
  const names = (route: ConstrainedRoute): string[] => {
    return [placeOf(route), `${placeOf(route)} ${constraintsKey(route)}`]
  }
  const places = new Set(was.routes.flatMap(names))
  return is.routes.flatMap(names).filter((name) => places.has(name)).length
}

/** Those of places that the application does not have any more. */
function lostRoutes(
  was: MatrixApplication | undefined,
  is: MatrixApplication | undefined,
): readonly ConstrainedRoute[] {
  const places = new Set(is?.routes.map(placeOf))
  return was?.routes.filter((route) => !places.has(placeOf(route))) ?? []
}

function placeOf({ method, url }: ConstrainedRoute): string {
  return `${method} ${url}`
}

function applicationDifferences(
  was: readonly ConstrainedRoute[],
  is: readonly ConstrainedRoute[],
  {
    remaining,
    lostElsewhere,
  }: {
    readonly remaining: RemainingRoutes
    readonly lostElsewhere: readonly ConstrainedRoute[]
  },
): PlaceDifference[] {
  const before = grouped(was, placeOf)
  const after = grouped(is, placeOf)
  const lost = grouped(lostElsewhere, placeOf)
  const places = new Set([...was, ...is].map(placeOf))
  return [...places].flatMap((place) =>
    placeDifferences(before.get(place) ?? [], after.get(place) ?? [], {
      remaining,
      lostElsewhere: lost.get(place) ?? [],
    }),
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
