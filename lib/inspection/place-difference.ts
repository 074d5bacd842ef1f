import type { ConstrainedRoute } from './listed-routes.ts'
import { paired } from './paired.ts'
import type { RemainingRoutes } from './remaining-routes.ts'
import { constraintsKey, constraintWords } from './route-constraints.ts'
import {
  type Effect,
  policyWords,
  type RouteDifference,
  routeDifferences,
} from './route-difference.ts'

/** A difference, and the route that it is told of. */
export interface PlaceDifference extends RouteDifference {
  readonly at: ConstrainedRoute
}

type Routes = readonly ConstrainedRoute[]

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
export function placeDifferences(
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
  const letsIn = is.noauth !== false || isLooser(others, [is])
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
  const takes = isLooser(
    was.filter((route) => route !== before),
    [after],
  )
  return { effect: takes ? 'opens' : movedEffect(before, after), told }
}

function movedEffect(before: ConstrainedRoute, after: ConstrainedRoute): Effect {
  if (isTighter(before, after)) return 'closes'
  return after.noauth === false ? 'changes' : 'opens'
}

/** Whether all constraints stay, and others come. */
function isTighter({ constraints: was = {} }: ConstrainedRoute, after: ConstrainedRoute): boolean {
  const is = new Map(Object.entries(after.constraints ?? {}))
  return Object.entries(was).every(([name, value]) => is.has(name) && is.get(name) === value)
}

/** Whether one of some routes lets somebody in whom one of the others keeps out. */
function isLooser(stricter: Routes, looser: Routes): boolean {
  return stricter.some((was) =>
    looser.some((is) => routeDifferences(was, is).some(({ effect }) => effect === 'opens')),
  )
}
