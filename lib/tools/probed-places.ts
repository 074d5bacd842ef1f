import type { Route } from '../declaration/route.ts'
import type { RouteRegister } from '../declaration/route-register.ts'
import { type ListedPlace, routePlaces } from '../inspection/listed-routes.ts'

/** One entry of `routes()`, with its route. */
export interface ProbedPlace extends ListedPlace {
  readonly route: Route
}

/** What `routes()` lists of one guard, in the same order. */
export function probedPlaces(register: RouteRegister): ProbedPlace[] {
  const of = (route: Route): ProbedPlace[] =>
    routePlaces(route).map((place) => ({ ...place, route }))
  return [...register.seen, ...(register.early ?? [])].flatMap(of)
}

/** An upgrade's headers (RFC 6455 §4.1). The key is the one of that section. */
const UPGRADE = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
}

/**
 * The headers by which the router finds this one of several routes, and those of an upgrade.
 *
 * @param given further ones, among which is one for each expression
 * @returns the headers, or why they are not known
 */
export function headersFor(
  { method, route }: ProbedPlace,
  given: Readonly<Record<string, string>>,
): Record<string, string> | string {
  const headers = new Map<string, string>()
  if (method === 'GET' && route.isWebSocket) {
    for (const [name, value] of Object.entries(UPGRADE)) headers.set(name, value)
  }
  for (const [name, value] of Object.entries(given)) headers.set(name.toLowerCase(), value)
  for (const [name, value] of Object.entries(route.constraints)) {
    const header = name === 'version' ? 'accept-version' : name.toLowerCase()
    if (!(value instanceof RegExp)) headers.set(header, String(value))
    else if (!headers.has(header)) return `its constraint ${name} is an expression`
  }
  return Object.fromEntries(headers)
}
