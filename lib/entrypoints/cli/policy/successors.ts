import { placeWords } from '../../../routes/route-constraints.ts'
import type { ConstrainedRoute, ListedPlace } from '../../../routes/route-list.ts'
import { withAndWithoutOptional } from '../../../routes/route-path.ts'
import { type Effect, policyWords, type RouteDifference, routeDifferences } from './diff-route.ts'

/**
 * The routes of one application that may answer for a route that is gone.
 *
 * @param uncovered the places of the same application outside of every guard
 * @param anywhere the places of all applications outside of every guard
 */
export function successorRoutes(
  guarded: readonly ConstrainedRoute[],
  uncovered: readonly ListedPlace[],
  anywhere: readonly ListedPlace[],
) {
  const [uncoveredFor, guardedFor] = [answeringPlaces(uncovered), answeringPlaces(guarded)]
  const uncoveredNames = new Set(anywhere.flatMap(namesOf))

  /**
   * The effect of the route that answers from now on: of several, of the one that lets in most.
   * Undefined if none answers, or all that do are stricter: that closes.
   *
   * @param except a route that does not count
   */
  function successorOf(
    left: ConstrainedRoute,
    except?: ConstrainedRoute,
  ): RouteDifference | undefined {
    const routes = guardedFor(left).filter((route) => route !== except)
    const successors = [
      ...uncoveredFor(left).map((place) => successorDifference(left, place)),
      ...routes.map((route) => successorDifference(left, route, route)),
    ]
    const first = (wanted: Effect) => successors.find(({ effect }) => effect === wanted)
    return first('opens') ?? first('changes')
  }

  /** The effect of the loss of a route, which may have lost its guard only. */
  function lossOf(gone: ConstrainedRoute): RouteDifference {
    if (namesOf(gone).some((name) => uncoveredNames.has(name))) {
      const text = `was ${policyWords(gone)}; now it is there, and no guard covers it`
      return { effect: isForEverybody(gone) ? 'changes' : 'opens', text }
    }
    const successor = successorOf(gone)
    const text = `is gone: was ${policyWords(gone)}${successor?.text ?? ''}`
    return { effect: successor?.effect ?? 'closes', text }
  }

  return { successorOf, lossOf }
}

/** Routes of a pattern, which may have answered for a place that had none of its own. */
export function patternRoutes(routes: readonly ConstrainedRoute[]) {
  return answeringPlaces(routes.filter(({ url }) => /[:*]/.test(url)))
}

/** Gives those of the places that may answer requests for another one. */
function answeringPlaces<Place extends ListedPlace>(places: readonly Place[]) {
  const known = places.map((place) => ({ place, answers: answering(place.url) }))
  return ({ method, url }: ListedPlace): Place[] =>
    known.flatMap(({ place, answers }) => (place.method === method && answers(url) ? [place] : []))
}

/**
 * A stricter route closes, as no route does.
 *
 * @param route undefined: no guard covers the place
 */
function successorDifference(
  left: ConstrainedRoute,
  place: ListedPlace,
  route?: ConstrainedRoute,
): RouteDifference {
  const words = route === undefined ? 'no guard covers that' : `that is ${policyWords(route)}`
  const text = `; now ${placeWords(place)} may answer, and ${words}`
  const differences = routeDifferences(left, route ?? uncovered(left))
  const effects = differences.map(({ effect }) => effect)
  if (effects.includes('opens')) return { effect: 'opens', text }
  return { effect: effects.includes('closes') ? 'closes' : 'changes', text }
}

function uncovered({ check: _, suspended: __, ...route }: ConstrainedRoute): ConstrainedRoute {
  return { ...route, noauth: true, tenant: null }
}

function isForEverybody({ noauth, tenant, check }: ConstrainedRoute): boolean {
  return noauth === true && tenant === null && check === undefined
}

function namesOf({ method, url }: ListedPlace): string[] {
  return withAndWithoutOptional(url).map(
    (each) => `${method} ${roughPath(each).replace(/\/$/, '')}`,
  )
}

/** Stands for the value of a parameter. No path has it. */
const ANY_VALUE = '\0'

/**
 * Makes a test for urls of gone routes: true if the route of this url answers requests for them.
 * In doubt it is true: about letter case, a slash at the end, and regular expressions. A route with
 * parameters does not answer for one whose path says more.
 */
export function answering(url: string): (gone: string) => boolean {
  const patterns = withAndWithoutOptional(url).map((each) => {
    const source = rooted(each)
      .replace(/\/$/, '')
      .replaceAll(/[\\^$.+?()[\]{}|]/g, '\\$&')
      .replace(/\*$/, '.*')
      // The router takes an empty value, too.
      .replaceAll(':', '[^/]*')
    return new RegExp(`^${source}/?$`, 's')
  })
  return (gone) => requestsFor(gone).some((path) => patterns.some((pattern) => pattern.test(path)))
}

/** Requests that found a route. A wildcard may stand for one segment, or for more. */
function requestsFor(url: string): string[] {
  return withAndWithoutOptional(url).flatMap((each) => {
    const path = rooted(each).replaceAll(':', ANY_VALUE)
    return [ANY_VALUE, `${ANY_VALUE}/${ANY_VALUE}`].map((rest) => path.replace(/\*$/, rest))
  })
}

/** The router keeps a lone `*` below the root. */
function rooted(url: string): string {
  return roughPath(url.startsWith('/') ? url : `/${url}`)
}

/** In small letters, with single slashes. A segment is cut at its first parameter. */
function roughPath(url: string): string {
  let spelled = ''
  let isParameter = false
  let depth = 0
  for (const char of url.toLowerCase()) {
    if (char === '/' && depth <= 0) isParameter = false
    if (!isParameter && !(char === '/' && spelled.endsWith('/'))) spelled += char
    if (char === ':') isParameter = true
    if (isParameter) depth += Number(char === '(') - Number(char === ')')
  }
  return spelled
}
