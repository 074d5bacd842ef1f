// Outside: Fastify's router, which keeps a route under other paths than the one it was written
// with.

import type { FastifyInstance } from 'fastify'

const OPTIONAL = /(\/:[^/()]*?)\?(\/?)/

/**
 * The paths under which Fastify's router keeps a route. It makes two of one with an optional
 * parameter, and leaves slashes out where the application has told it to.
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

/** Either may be given at the top, as before Fastify 5.5, or among the router's options. */
function routerOptionsOf({ initialConfig }: FastifyInstance): RouterOptions {
  const { ignoreTrailingSlash, ignoreDuplicateSlashes }: RouterOptions = initialConfig
  const router: RouterOptions = Object(Reflect.get(initialConfig, 'routerOptions'))
  return {
    ignoreTrailingSlash: router.ignoreTrailingSlash ?? ignoreTrailingSlash,
    ignoreDuplicateSlashes: router.ignoreDuplicateSlashes ?? ignoreDuplicateSlashes,
  }
}
