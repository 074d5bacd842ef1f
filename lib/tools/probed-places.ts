import type { Route } from '../declaration/route.ts'
import type { RouteRegister } from '../declaration/route-register.ts'
import { type ListedPlace, routePlaces } from '../inspection/listed-routes.ts'
import { sampleOfPattern } from './sample-of-pattern.ts'

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

/** The headers by which the router finds this one of several routes, and those of an upgrade. */
export function headersFor({ method, route }: ProbedPlace): Record<string, string> {
  const found = Object.entries(route.constraints).flatMap(([name, value]) => {
    const text = value instanceof RegExp ? sampleOfPattern(value.source) : String(value)
    return text === undefined ? [] : [[name === 'version' ? 'accept-version' : name, text]]
  })
  const isUpgrade = method === 'GET' && route.isWebSocket
  return { ...(isUpgrade && UPGRADE), ...Object.fromEntries(found) }
}
