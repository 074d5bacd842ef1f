// Outside: Fastify's router, which can only be asked whether it has a route, and may keep a route
// under another path than the written one.

import type { FastifyInstance, RouteOptions } from 'fastify'

const OPTIONAL = /(\/:[^/()]*?)\?(\/?)/

/**
 * The paths under which Fastify's router keeps a route. A route with an optional parameter becomes
 * two. Slashes are left out if the application has told the router to ignore them.
 */
export function routerSpellings(url: string, app: FastifyInstance): string[] {
  const { ignoreTrailingSlash, ignoreDuplicateSlashes } = routerOptionsOf(app)
  return withAndWithoutOptional(url).map((each) => {
    // A lone `*` is kept below the root.
    const whole = each === '*' ? '/*' : each
    const single = ignoreDuplicateSlashes ? whole.replaceAll(/\/{2,}/g, '/') : whole
    return ignoreTrailingSlash ? single.replace(/(.)\/$/, '$1') : single
  })
}

/** A path with an optional parameter, with and without it. */
export function withAndWithoutOptional(url: string): string[] {
  return OPTIONAL.test(url)
    ? [url.replace(OPTIONAL, '$1$2'), url.replace(OPTIONAL, '$2') || '/']
    : [url]
}

interface RouterOptions {
  readonly ignoreTrailingSlash?: boolean | undefined
  readonly ignoreDuplicateSlashes?: boolean | undefined
}

/** An option may stand at the top, as before Fastify 5.5, or among the router's options. */
function routerOptionsOf({ initialConfig }: FastifyInstance): RouterOptions {
  const { ignoreTrailingSlash, ignoreDuplicateSlashes }: RouterOptions = initialConfig
  const router: RouterOptions = Object(Reflect.get(initialConfig, 'routerOptions'))
  return {
    ignoreTrailingSlash: router.ignoreTrailingSlash ?? ignoreTrailingSlash,
    ignoreDuplicateSlashes: router.ignoreDuplicateSlashes ?? ignoreDuplicateSlashes,
  }
}

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
