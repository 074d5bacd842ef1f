import { inspect } from 'node:util'

/**
 * The constraints that distinguish routes of one method and url, such as `{ version: '1.2.0' }`.
 */
export type RouteConstraints = Readonly<Record<string, string | number | boolean | null>>

interface Constrained {
  readonly constraints?: RouteConstraints
}

/** The value of a constraint may be anything that the strategy of an application understands. */
const WHOLE = {
  depth: null,
  sorted: true,
  customInspect: false,
  maxArrayLength: null,
  maxStringLength: null,
  compact: true,
  breakLength: Number.POSITIVE_INFINITY,
} as const

/**
 * The constraints of a route as JSON holds them, in the order of their names. A value that is no
 * scalar is shown as Node shows it, such as `/^a\.example$/i`, with a mark if different values may
 * look the same.
 *
 * @returns undefined if there are none
 */
export function jsonConstraints(given: object): RouteConstraints | undefined {
  const names = Object.keys(given).sort()
  if (names.length === 0) return undefined
  const values = new Map<string, unknown>(Object.entries(given))
  return Object.fromEntries(names.map((name) => [name, jsonValue(values.get(name))]))
}

export function constraintsKey({ constraints = {} }: Constrained): string {
  return JSON.stringify(constraints)
}

/** The constraints in words: `host a.example, version 1.2.0`, `none`. */
export function constraintWords({ constraints = {} }: Constrained): string {
  const words = Object.entries(constraints).map(([name, value]) => `${word(name)} ${word(value)}`)
  return words.join(', ') || 'none'
}

/** A url with the constraints of one of its routes: `/orders (version 1.2.0)`. */
export function placeWords(place: Constrained & { readonly url: string }): string {
  return place.constraints === undefined ? place.url : `${place.url} (${constraintWords(place)})`
}

function jsonValue(value: unknown): RouteConstraints[string] {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number' && Number.isFinite(value)) return value
  const shown = inspect(value, WHOLE)
  return isShownWhole(value, shown) ? shown : `${shown}${NOT_COMPARED}`
}

/** The end of a constraint's text that may be the same for different constraints. */
const NOT_COMPARED = ' (cannot be compared)'

/** The names of a route's constraints that the lock cannot compare. */
export function notCompared({ constraints = {} }: Constrained): string[] {
  return Object.entries(constraints).flatMap(([name, value]) =>
    typeof value === 'string' && value.endsWith(NOT_COMPARED) ? [name] : [],
  )
}

/** A function, a getter, a symbol and an object of a class hold more than Node shows. */
function isShownWhole(value: unknown, shown: string): boolean {
  try {
    return inspect(structuredClone(value), WHOLE) === shown
  } catch {
    return false
  }
}

/** In quotes if it would not be one word. */
function word(value: RouteConstraints[string]): string {
  const text = String(value)
  return /^[^\s"]+$/.test(text) ? text : JSON.stringify(text)
}
