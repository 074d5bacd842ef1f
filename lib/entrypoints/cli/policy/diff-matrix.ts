import type { Implies } from '../../../identity/authorization/implied-ids.ts'
import { constraintsKey, constraintWords, placeWords } from '../../../routes/route-constraints.ts'
import type { ConstrainedRoute, ListedPlace } from '../../../routes/route-list.ts'
import { type Effect, policyWords, type RouteDifference, routeDifferences } from './diff-route.ts'
import type { MatrixApplication, PolicyMatrix } from './matrix.ts'
import { patternRoutes, successorRoutes } from './successors.ts'

export interface Difference extends RouteDifference {
  /**
   * `GET, HEAD /orders`, or `GET /orders (version 1.2.0)`. If there are several applications,
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

interface PlaceDifference extends RouteDifference {
  readonly at: ConstrainedRoute
}

const EFFECTS: readonly Effect[] = ['opens', 'closes', 'changes']

/**
 * All differences between the policies of two matrices: those that open something, then those that
 * close something. Order, and the data that a route receives, make no difference.
 *
 * @param uncovered the places there are now: a route that is gone may be there without its guard
 */
export function matrixDifferences(
  was: PolicyMatrix,
  is: PolicyMatrix,
  { beside, unguarded }: UncoveredPlaces,
): Difference[] {
  const anywhere = [...beside.flat(), ...unguarded]
  const pairs = pairByLikeness(was.applications, is.applications, sharedPlaces)
  const lost = pairs.map(([before, after]) => lostRoutes(before, after))
  const found = pairs.map(([before, after], index) => {
    const guarded = after?.routes ?? []
    // An application without a guard is one of those that have none.
    const own = after === undefined ? unguarded : (beside[index] ?? [])
    const successors = successorRoutes(guarded, own, anywhere)
    const lostElsewhere = lost.flatMap((routes, each) => (each === index ? [] : routes))
    const [old, now] = [groupBy(before?.routes ?? [], placeOf), groupBy(guarded, placeOf)]
    const moved = groupBy(lostElsewhere, placeOf)
    const answeredBy = patternRoutes(before?.routes ?? [])
    const differences = [...new Set([...old.keys(), ...now.keys()])].flatMap((place) => {
      const [before = [], after = [], elsewhere] = [old, now, moved].map((each) => each.get(place))
      const others = (route: ConstrainedRoute) => [...(elsewhere ?? []), ...answeredBy(route)]
      return placeDifferences(before, after, successors, others)
    })
    const application = pairs.length === 1 ? '' : `application ${index + 1}: `
    return [
      ...impliesDifferences(before?.implies, after?.implies, application),
      ...mergeMethods(differences, application),
    ]
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
 * @param lost the differences of the applications that are gone
 */
function countDifference(was: number, is: number, lost: readonly Difference[]): Difference[] {
  if (was === is) return []
  const effect = lost.some((each) => each.effect === 'opens') ? 'opens' : 'changes'
  return [{ effect, route: 'guarded applications', text: `were ${was}, are ${is}` }]
}

/** A further id that another one implies opens, even if it did so through others. */
function impliesDifferences(
  was: Implies = {},
  is: Implies = {},
  application: string,
): Difference[] {
  const [before, after] = [arrows(was), arrows(is)]
  const route = `${application}implies`
  const isNew = [...after].filter((arrow) => !before.has(arrow))
  const isGone = [...before].filter((arrow) => !after.has(arrow))
  return [
    ...isNew.map((arrow): Difference => ({ effect: 'opens', route, text: `${arrow} is new` })),
    ...isGone.map((arrow): Difference => ({ effect: 'closes', route, text: `${arrow} is gone` })),
  ]
}

function arrows(implies: Implies): ReadonlySet<string> {
  return new Set(
    Object.entries(implies).flatMap(([id, ids]) => ids.map((implied) => `${id} -> ${implied}`)),
  )
}

/** A route whose constraints are shared too counts twice. */
function sharedPlaces(was: MatrixApplication, is: MatrixApplication): number {
  const names = (route: ConstrainedRoute): string[] => {
    return [placeOf(route), `${placeOf(route)} ${constraintsKey(route)}`]
  }
  const places = new Set(was.routes.flatMap(names))
  return is.routes.flatMap(names).filter((name) => places.has(name)).length
}

function lostRoutes(was?: MatrixApplication, is?: MatrixApplication): Routes {
  const places = new Set(is?.routes.map(placeOf))
  return was?.routes.filter((route) => !places.has(placeOf(route))) ?? []
}

function placeOf({ method, url }: ConstrainedRoute): string {
  return `${method} ${url}`
}

/** Makes one difference of those that several methods of a route share, such as GET and HEAD. */
function mergeMethods(differences: readonly PlaceDifference[], application: string): Difference[] {
  const groups = groupBy(differences, ({ at, text, effect }) =>
    JSON.stringify([at.url, constraintsKey(at), text, effect]),
  )
  return [...groups.values()].flatMap((group) => {
    const methods = [...new Set(group.map(({ at }) => at.method))].join(', ')
    return group.slice(0, 1).map(({ effect, text, at }) => {
      return { effect, text, route: `${application}${methods} ${placeWords(at)}` }
    })
  })
}

/** More than all differences that two routes may have. */
const SAME_CONSTRAINTS = 10

/**
 * The differences among the routes of one method and url. Their constraints, such as versions and
 * hosts, decide which of them a request finds.
 *
 * @param othersFor routes that may have answered for a new one: those of this place that other
 * applications have lost, and that may have moved here, and those of a pattern
 */
function placeDifferences(
  was: Routes,
  is: Routes,
  successors: ReturnType<typeof successorRoutes>,
  othersFor: (route: ConstrainedRoute) => Routes,
): PlaceDifference[] {
  return pairByLikeness(was, is, likeness).flatMap(([before, after]) => {
    if (after === undefined) return [{ ...successors.lossOf(before), at: before }]
    if (before === undefined) return [additionOf(after, [...was, ...othersFor(after)])]
    const gained = gainedBy(before, after)
    const hasGained = ({ constraints = {} }: ConstrainedRoute) =>
      gained.length > 0 && gained.every((name) => Object.hasOwn(constraints, name))
    // A further constraint takes requests from no other route, but from those that have it, too.
    const tighter = isTighter(before, after)
    const others = [...was, ...othersFor(after).filter((route) => !tighter || hasGained(route))]
    const moved = isSamePlace(before, after)
      ? []
      : [constraintDifference(before, after, others, successors)]
    return [...moved, ...routeDifferences(before, after)].map((each) => ({ ...each, at: after }))
  })
}

function likeness(a: ConstrainedRoute, b: ConstrainedRoute): number {
  return (isSamePlace(a, b) ? SAME_CONSTRAINTS : 0) - routeDifferences(a, b).length
}

function isSamePlace(a: ConstrainedRoute, b: ConstrainedRoute): boolean {
  return constraintsKey(a) === constraintsKey(b)
}

/** An added route may take requests that found another route. */
function additionOf(is: ConstrainedRoute, others: Routes): PlaceDifference {
  const letsIn = admitsStrangers(is) || isLooser(others, is)
  return { effect: letsIn ? 'opens' : 'changes', text: `is new: ${policyWords(is)}`, at: is }
}

function constraintDifference(
  before: ConstrainedRoute,
  after: ConstrainedRoute,
  was: Routes,
  successors: ReturnType<typeof successorRoutes>,
): RouteDifference {
  const text = `constraints were ${constraintWords(before)}, are ${constraintWords(after)}`
  // Requests that found the route may not find it any more.
  const successor = successors.successorOf(before, after)
  if (successor?.effect === 'opens') return { effect: 'opens', text: `${text}${successor.text}` }
  const others = was.filter((route) => route !== before)
  if (isLooser(others, after)) return { effect: 'opens', text }
  if (isTighter(before, after)) return { effect: 'closes', text }
  return { effect: admitsStrangers(after) ? 'opens' : 'changes', text }
}

function admitsStrangers({ noauth, guests }: ConstrainedRoute): boolean {
  return noauth !== false || guests === true
}

/** True if all constraints stay, and others come. */
function isTighter({ constraints: was = {} }: ConstrainedRoute, after: ConstrainedRoute): boolean {
  const is = new Map(Object.entries(after.constraints ?? {}))
  return Object.entries(was).every(([name, value]) => is.has(name) && is.get(name) === value)
}

/**
 * The constraints that a route has gained and without which a request that names them finds no
 * route, such as a version: it takes those requests from others that have them.
 */
function gainedBy(before: ConstrainedRoute, after: ConstrainedRoute): string[] {
  const was = new Map(Object.entries(before.constraints ?? {}))
  return Object.keys(after.constraints ?? {}).filter((name) => name !== 'host' && !was.has(name))
}

/** True if a route lets somebody in whom one of the others keeps out. */
function isLooser(others: Routes, route: ConstrainedRoute): boolean {
  return others.some((was) => routeDifferences(was, route).some(({ effect }) => effect === 'opens'))
}

export function groupBy<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
): Map<string, Item[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const group = groups.get(keyOf(item)) ?? []
    group.push(item)
    groups.set(keyOf(item), group)
  }
  return groups
}

type Pair<Item> = readonly [was: Item | undefined, is: Item] | readonly [was: Item, is: undefined]

/**
 * Pairs items of two lists: the most alike first, those of equal likeness in their order.
 *
 * @returns the pairs and the new items in the order of the second list; then those that are gone
 */
function pairByLikeness<Item>(
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
