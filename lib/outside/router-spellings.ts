// Outside: Fastify's router, which may keep a route under another path than the written one.

import type { FastifyInstance } from 'fastify'

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
