// Outside: Fastify's router, which can only be asked whether it has a route.

import type { FastifyInstance, RouteOptions } from 'fastify'
import { routerSpellings } from './router-spellings.ts'

/** A method, and a path as the router keeps it. */
export interface RouterPlace {
  readonly method: string
  readonly url: string
}

/** Where the router keeps a route. */
export function routerPlaces(app: FastifyInstance, method: string, url: string): RouterPlace[] {
  return routerSpellings(url, app).map((each) => ({ method, url: each }))
}

export function nameOf({ method, url }: RouterPlace): string {
  return `${method} ${url}`
}

export function isRouted(
  app: FastifyInstance,
  place: RouterPlace,
  constraints: NonNullable<RouteOptions['constraints']>,
): boolean {
  try {
    return app.hasRoute({ ...place, constraints })
  } catch {
    // The router throws for a path that it cannot have.
    return false
  }
}
