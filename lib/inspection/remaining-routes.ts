import { withAndWithoutOptional } from '../outside/router-spellings.ts'
import { answering } from './answering-url.ts'
import { grouped } from './grouped.ts'
import type { ConstrainedRoute, ListedPlace } from './listed-routes.ts'
import { roughSpelling } from './rough-path.ts'
import { placeWords } from './route-constraints.ts'
import { policyWords, type RouteDifference, routeDifferences } from './route-difference.ts'

/** The routes that one application has now. */
interface Remains {
  readonly guarded: readonly ConstrainedRoute[]
  /** Beside these, outside of every guard. */
  readonly uncovered: readonly ListedPlace[]
  /** What no guard covers in any application. */
  readonly anywhere: readonly ListedPlace[]
}

interface Candidate extends ListedPlace {
  /** Undefined: no guard covers it. */
  readonly route: ConstrainedRoute | undefined
  answers(gone: string): boolean
}

/** What there is in the place of a route that is gone: it may have lost its guard only. */
export class RemainingRoutes {
  readonly #candidates: Map<string, Candidate[]>
  readonly #uncovered: ReadonlySet<string>

  constructor({ guarded, uncovered, anywhere }: Remains) {
    const candidates = [
      ...uncovered.map((place) => candidate(place, undefined)),
      ...guarded.map((route) => candidate(route, route)),
    ]
    this.#candidates = grouped(candidates, ({ method }) => method)
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
    const candidates = this.#candidates.get(left.method) ?? []
    const successors = candidates
      .filter(
        ({ route, answers }) => (except === undefined || route !== except) && answers(left.url),
      )
      .map((each) => successor(left, each))
    return (
      successors.find(({ effect }) => effect === 'opens') ??
      successors.find(({ effect }) => effect === 'changes')
    )
  }
}

function candidate(place: ListedPlace, route: ConstrainedRoute | undefined): Candidate {
  const { method, url, constraints } = place
  return { method, url, ...(constraints && { constraints }), route, answers: answering(url) }
}

/** What a route does that answers from now on. A stricter one closes, as no route does. */
function successor(left: ConstrainedRoute, { route, ...place }: Candidate): RouteDifference {
  const words = route === undefined ? 'no guard covers that' : `that is ${policyWords(route)}`
  const told = `; now ${placeWords(place)} may answer, and ${words}`
  const effects = routeDifferences(left, route ?? { ...left, noauth: true }).map(
    ({ effect }) => effect,
  )
  if (effects.includes('opens')) return { effect: 'opens', told }
  return { effect: effects.includes('closes') ? 'closes' : 'changes', told }
}

/** The same for a place of another application whose parameters have other names. */
function namesOf({ method, url }: ListedPlace): string[] {
  return withAndWithoutOptional(url).map((each) => `${method} ${roughSpelling(each)}`)
}
