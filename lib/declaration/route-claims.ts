import { valuesIn } from './declared-keys.ts'
import { CLOSED, type Policy } from './policy.ts'
import { markIn, type WrittenRoute } from './written-route.ts'

/** Where a route stands: its methods and its url. */
export interface Place {
  readonly method?: string | readonly string[] | undefined
  readonly url?: string | undefined
}

/** A compiled route, until the configs of its requests have been seen. */
interface Claimable {
  readonly route: WrittenRoute
  readonly policy: Policy
  readonly isEarly: boolean
  /** What the route declared when its policy was compiled. */
  readonly values: readonly unknown[]
  /** Whether its own config bears its mark, and no other config does. */
  readonly isMarked: boolean
  /** How many configs may still claim the route. Fastify makes one config for each of its urls. */
  left: number
}

/**
 * Finds the compiled route that a live config of Fastify's belongs to. The config alone is not a
 * proof: the application may have copied it from another route, or changed it before its first
 * request. So each route can be claimed only once for each of its urls, and by a mark that no copy
 * has.
 */
export class RouteClaims {
  readonly #byPlace = new Map<string, Claimable[]>()
  readonly #isComplete: boolean

  /**
   * @param isComplete whether every route is added; then the only route of a place is the right one
   */
  constructor(isComplete: boolean) {
    this.#isComplete = isComplete
  }

  add(route: WrittenRoute, policy: Policy, how: { isEarly: boolean; isMarked: boolean }): void {
    const { urls, config } = route
    this.#at(placeOf(route)).push({
      route,
      policy,
      values: valuesIn(config),
      left: urls.length,
      ...how,
    })
  }

  /** Whether a route of this place was added. */
  has(place: Place): boolean {
    return this.#at(placeName(place)).length > 0
  }

  /** Corrects a claim: a config was taken for one of another route of the same place. */
  correct(route: WrittenRoute, claimed: Policy | null): void {
    for (const each of this.#at(placeOf(route))) {
      if (each.policy === claimed) each.left += 1
      if (each.route === route) each.left -= 1
    }
  }

  /** The policy of the route that a config belongs to; undefined if that cannot be told. */
  claim(config: Place): Policy | undefined {
    const left = this.#at(placeName(config)).filter((each) => each.left > 0)
    const [only, ...others] = left
    const isOnly = this.#isComplete && others.length === 0
    const claimed = find(config, left) ?? (isOnly ? only : undefined)
    if (claimed === undefined) return undefined
    claimed.left -= 1
    return policyFor(config, claimed)
  }

  #at(place: string): Claimable[] {
    const known = this.#byPlace.get(place) ?? []
    this.#byPlace.set(place, known)
    return known
  }
}

/** The routes whose own config bears their mark, and no other config of these routes does. */
export function ownMarked(routes: readonly WrittenRoute[]): ReadonlySet<WrittenRoute> {
  const bearers = new Map<WrittenRoute, WrittenRoute | null>()
  for (const route of routes) {
    const marked = markIn(route.config)
    if (marked) bearers.set(marked, bearers.has(marked) ? null : route)
  }
  return new Set(routes.filter((route) => bearers.get(route) === route))
}

/** The place of a route, as Fastify tells it to requests. */
export function placeOf({ methods, writtenUrl }: WrittenRoute): string {
  return placeName({ method: methods, url: writtenUrl })
}

function placeName({ method, url }: Place): string {
  return `${method} ${url}`
}

/**
 * By its mark, unless the mark was copied; otherwise by what it declares. That is enough, because
 * routes of one place that declare the same have the same policy.
 */
function find(config: object, claimable: readonly Claimable[]): Claimable | undefined {
  const marked = markIn(config)
  const values = valuesIn(config)
  return (
    claimable.find(({ route, isMarked }) => isMarked && route === marked) ??
    claimable.find((each) => !each.isMarked && areSame(each.values, values))
  )
}

/**
 * An early route may share its config with other routes. So the config of its own request must say
 * too that it is open.
 */
function policyFor(config: object, { policy, isEarly, values }: Claimable): Policy {
  const isDoubtful = policy.noauth && isEarly && !areSame(values, valuesIn(config))
  return isDoubtful ? CLOSED : policy
}

function areSame(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.every((value, index) => Object.is(value, b[index]))
}
