import { constraintsKey, constraintWords, placeWords } from '../../../routes/route-constraints.ts'
import type { ConstrainedRoute, ListedPlace } from '../../../routes/route-list.ts'
import { type Effect, policyWords, type RouteDifference, routeDifferences } from './diff-route.ts'
import type { MatrixApplication, PolicyMatrix } from './matrix.ts'
import { RemainingRoutes } from './successors.ts'

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

type Routes = readonly ConstrainedRoute[]

/** A difference, and the route that it is told of. */
interface PlaceDifference extends RouteDifference {
  readonly at: ConstrainedRoute
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
    const [old, now] = [grouped(before?.routes ?? [], placeOf), grouped(guarded, placeOf)]
    const moved = grouped(lostElsewhere, placeOf)
    const differences = [...new Set([...old.keys(), ...now.keys()])].flatMap((place) =>
      placeDifferences(old.get(place) ?? [], now.get(place) ?? [], {
        remaining,
        lostElsewhere: moved.get(place) ?? [],
      }),
    )
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
function lostRoutes(was?: MatrixApplication, is?: MatrixApplication): Routes {
  const places = new Set(is?.routes.map(placeOf))
  return was?.routes.filter((route) => !places.has(placeOf(route))) ?? []
}

function placeOf({ method, url }: ConstrainedRoute): string {
  return `${method} ${url}`
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

/** What counts beside the routes of the place itself. */
interface Beside {
  readonly remaining: RemainingRoutes
  /** The routes of this place that other applications have lost: they may have moved. */
  readonly lostElsewhere: Routes
}

/** Counts more than all in which the policies of two routes may differ. */
const SAME_CONSTRAINTS = 10

/**
 * What differs among the routes of one method and url. Their constraints, such as versions and
 * hosts, tell them apart, and decide which of them a request finds.
 */
function placeDifferences(
  was: Routes,
  is: Routes,
  { remaining, lostElsewhere }: Beside,
): PlaceDifference[] {
  return paired(was, is, likeness).flatMap(([before, after]) => {
    if (after === undefined) return [{ ...remaining.differenceOf(before), at: before }]
    if (before === undefined) return [added(after, [...was, ...lostElsewhere])]
    const moved = isSamePlace(before, after)
      ? []
      : [movedDifference(before, after, { was, remaining })]
    return [...moved, ...routeDifferences(before, after)].map((each) => ({ ...each, at: after }))
  })
}

function likeness(a: ConstrainedRoute, b: ConstrainedRoute): number {
  return (isSamePlace(a, b) ? SAME_CONSTRAINTS : 0) - routeDifferences(a, b).length
}

function isSamePlace(a: ConstrainedRoute, b: ConstrainedRoute): boolean {
  return constraintsKey(a) === constraintsKey(b)
}

/** It may take requests that found another route of its place. */
function added(is: ConstrainedRoute, others: Routes): PlaceDifference {
  const letsIn = is.noauth !== false || isLooser(others, is)
  return { effect: letsIn ? 'opens' : 'changes', told: `is new: ${policyWords(is)}`, at: is }
}

function movedDifference(
  before: ConstrainedRoute,
  after: ConstrainedRoute,
  { was, remaining }: { readonly was: Routes; readonly remaining: RemainingRoutes },
): RouteDifference {
  const told = `constraints were ${constraintWords(before)}, are ${constraintWords(after)}`
  // Requests that found the route may not find it any more.
  const successor = remaining.successorOf(before, after)
  if (successor?.effect === 'opens') return { effect: 'opens', told: `${told}${successor.told}` }
  const others = was.filter((route) => route !== before)
  if (isLooser(others, after)) return { effect: 'opens', told }
  if (isTighter(before, after)) return { effect: 'closes', told }
  return { effect: after.noauth === false ? 'changes' : 'opens', told }
}

/** Whether all constraints stay, and others come. */
function isTighter({ constraints: was = {} }: ConstrainedRoute, after: ConstrainedRoute): boolean {
  const is = new Map(Object.entries(after.constraints ?? {}))
  return Object.entries(was).every(([name, value]) => is.has(name) && is.get(name) === value)
}

/** Whether a route lets somebody in whom one of the others keeps out. */
function isLooser(others: Routes, route: ConstrainedRoute): boolean {
  return others.some((was) => routeDifferences(was, route).some(({ effect }) => effect === 'opens'))
}

/** The items of each key, in their order. */
export function grouped<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
): Map<string, Item[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group === undefined) groups.set(keyOf(item), [item])
    else group.push(item)
  }
  return groups
}

/** What was and what became of it; undefined: it is gone, or it is new. */
type Pair<Item> = readonly [was: Item | undefined, is: Item] | readonly [was: Item, is: undefined]

/**
 * Pairs what was with what is: the most alike first, those of equal likeness in their order.
 *
 * @returns in the order of what is; then what is gone
 */
function paired<Item>(
  was: readonly Item[],
  is: readonly Item[],
  likeness: (was: Item, is: Item) => number,
): Pair<Item>[] {
  const candidates = is.flatMap((after) =>
    was.map((before) => ({ before, after, fit: likeness(before, after) })),
  )
  const left = new Set(was)
  const found = new Map<Item, Item>()
  for (const { before, after } of candidates.sort((a, b) => b.fit - a.fit)) {
    if (!found.has(after) && left.delete(before)) found.set(after, before)
  }
  const gone = [...left].map((before): Pair<Item> => [before, undefined])
  return [...is.map((after): Pair<Item> => [found.get(after), after]), ...gone]
}
