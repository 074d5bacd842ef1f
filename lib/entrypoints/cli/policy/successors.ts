import { placeWords } from '../../../routes/route-constraints.ts'
import type { ConstrainedRoute, ListedPlace } from '../../../routes/route-list.ts'
import { withAndWithoutOptional } from '../../../routes/route-path.ts'
import { policyWords, type RouteDifference, routeDifferences } from './diff-route.ts'

/** The routes that one application has now. */
interface Remains {
  readonly guarded: readonly ConstrainedRoute[]
  /** Beside these, outside of every guard. */
  readonly uncovered: readonly ListedPlace[]
  /** What no guard covers in any application. */
  readonly anywhere: readonly ListedPlace[]
}

/** A route that may answer for one that is gone. */
interface Candidate {
  readonly place: ListedPlace
  /** Undefined: no guard covers it. */
  readonly route: ConstrainedRoute | undefined
  readonly answers: (gone: string) => boolean
}

/** What there is in the place of a route that is gone: it may have lost its guard only. */
export class RemainingRoutes {
  readonly #candidates: readonly Candidate[]
  readonly #uncovered: ReadonlySet<string>

  constructor({ guarded, uncovered, anywhere }: Remains) {
    const candidate = (place: ListedPlace, route?: ConstrainedRoute): Candidate => {
      return { place, route, answers: answering(place.url) }
    }
    this.#candidates = [
      ...uncovered.map((place) => candidate(place)),
      ...guarded.map((route) => candidate(route, route)),
    ]
    this.#uncovered = new Set(anywhere.flatMap(namesOf))
  }

  /** What the loss of a route does. */
  differenceOf(gone: ConstrainedRoute): RouteDifference {
    if (namesOf(gone).some((name) => this.#uncovered.has(name))) {
      const told = `was ${policyWords(gone)}; now it is there, and no guard covers it`
      return { effect: gone.noauth === true ? 'changes' : 'opens', told }
    }
    const { effect = 'closes', told = '' } = this.successorOf(gone) ?? {}
    return { effect, told: `is gone: was ${policyWords(gone)}${told}` }
  }

  /**
   * What a route does that may answer requests for another one: the one that lets in most.
   *
   * @param except a route that does not count
   * @returns undefined where none answers, or all that do are stricter: that closes
   */
  successorOf(left: ConstrainedRoute, except?: ConstrainedRoute): RouteDifference | undefined {
    const successors = this.#candidates
      .filter(({ place, route }) => place.method === left.method && (route ?? place) !== except)
      .filter(({ answers }) => answers(left.url))
      .map((each) => successor(left, each))
    return (
      successors.find(({ effect }) => effect === 'opens') ??
      successors.find(({ effect }) => effect === 'changes')
    )
  }
}

/** What a route does that answers from now on. A stricter one closes, as no route does. */
function successor(left: ConstrainedRoute, { route, place }: Candidate): RouteDifference {
  const words = route === undefined ? 'no guard covers that' : `that is ${policyWords(route)}`
  const told = `; now ${placeWords(place)} may answer, and ${words}`
  const differences = routeDifferences(left, route ?? { ...left, noauth: true })
  const effects = differences.map(({ effect }) => effect)
  if (effects.includes('opens')) return { effect: 'opens', told }
  return { effect: effects.includes('closes') ? 'closes' : 'changes', told }
}

/** The same for a place of another application whose parameters have other names. */
function namesOf({ method, url }: ListedPlace): string[] {
  return withAndWithoutOptional(url).map(
    (each) => `${method} ${roughPath(each).replace(/\/$/, '')}`,
  )
}

/** Stands for the value of a parameter. No path that is written holds it. */
const ANY_VALUE = '\0'

/**
 * Whether a route of this url answers requests for urls of gone routes. Where it cannot be sure the
 * answer is yes: of letter case, a slash at the end, and regular expressions. A route with
 * parameters does not answer for one whose path says more.
 */
export function answering(url: string): (gone: string) => boolean {
  const patterns = withAndWithoutOptional(url).map((each) => {
    const source = rooted(each)
      .replace(/\/$/, '')
      .replaceAll(/[\\^$.+?()[\]{}|]/g, '\\$&')
      .replaceAll(':', '[^/]+')
      .replace(/\*$/, '.*')
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
