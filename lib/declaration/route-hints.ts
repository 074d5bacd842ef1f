import type { RouteOptions } from 'fastify'

/** What helps to ask a route. */
export interface RouteHints {
  /** The schema of its path parameters. */
  readonly params: unknown
  /** Whether @fastify/websocket takes its requests. */
  readonly isWebSocket: boolean
}

/** They stand beside the routes, so that a route without hints pays nothing. */
const noted = new WeakMap<object, RouteHints>()

/** Notes the hints that the options of a route give. */
export function noteHints(route: object, options: Pick<RouteOptions, 'schema'>): void {
  const params = options.schema?.params
  const isWebSocket =
    Reflect.get(options, 'websocket') === true || Reflect.has(options, 'wsHandler')
  if (params !== undefined || isWebSocket) noted.set(route, { params, isWebSocket })
}

/** Complete once every plugin has loaded. */
export function hintsOf(route: object): RouteHints {
  return noted.get(route) ?? { params: undefined, isWebSocket: false }
}
