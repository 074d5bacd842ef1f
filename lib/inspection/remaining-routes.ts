import { answering } from './answering-url.ts'
import { grouped } from './grouped.ts'
import type { ConstrainedRoute, ListedPlace } from './listed-routes.ts'
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
    this.#uncovered = new Set(anywhere.map(nameOf))
  }

  /** What the loss of a route does. */
  differenceOf(gone: ConstrainedRoute): RouteDifference {
    if (this.#uncovered.has(nameOf(gone))) {
      const told = `was ${policyWords(gone)}; now it is there, and no guard covers it`
      return { effect: gone.noauth === true ? 'changes' : 'opens', told }
    }
    const candidates = this.#candidates.get(gone.method) ?? []
    const successors = candidates
      .filter(({ answers }) => answers(gone.url))
      .map((each) => successor(gone, each))
    const found =
      successors.find(({ effect }) => effect === 'opens') ??
      successors.find(({ effect }) => effect === 'changes')
    return found ?? { effect: 'closes', told: goneWords(gone) }
  }
}

function candidate(place: ListedPlace, route: ConstrainedRoute | undefined): Candidate {
  const { method, url, constraints } = place
  return { method, url, ...(constraints && { constraints }), route, answers: answering(url) }
}

/** What a route does that answers from now on. A stricter one closes, as no route does. */
function successor(gone: ConstrainedRoute, { route, ...place }: Candidate): RouteDifference {
  const words = route === undefined ? 'no guard covers that' : `that is ${policyWords(route)}`
  const told = `${goneWords(gone)}; now ${placeWords(place)} may answer, and ${words}`
  const effects = routeDifferences(gone, route ?? { ...gone, noauth: true }).map(
    ({ effect }) => effect,
  )
  if (effects.includes('opens')) return { effect: 'opens', told }
  return { effect: effects.includes('closes') ? 'closes' : 'changes', told }
}

function goneWords(gone: ConstrainedRoute): string {
  return `is gone: was ${policyWords(gone)}`
}

function nameOf({ method, url }: ListedPlace): string {
  return `${method} ${url}`
}
