import type { FastifyInstance, RouteOptions } from 'fastify'

const COLON = ':'
const ENDS_OF_NAME = ['(', '-', '.', '/']

interface PathParameter {
  readonly name: string
  /** Its regular expression, in parentheses; empty if there is none. */
  readonly expression: string
  /** The indexes in the path of its first character, and of the one after its last. */
  readonly start: number
  readonly end: number
}

export function parameterNames(path: string): string[] {
  return pathParameters(path).map(({ name }) => name)
}

/**
 * Reads the pattern as Fastify's router does: `::` is a literal colon; a name ends at `(`, `-`, `.`
 * or `/`; a regular expression may hold anything; a `?` at the end of a name makes it optional.
 */
export function pathParameters(path: string): PathParameter[] {
  const found: PathParameter[] = []
  for (let i = 0; i < path.length; i++) {
    if (path[i] !== COLON) continue
    if (path[i + 1] === COLON) {
      i++
      continue
    }
    const start = i
    while (i < path.length && !ENDS_OF_NAME.includes(path.charAt(i))) i++
    const name = path.slice(start + 1, i).replace(/\?$/, '')
    const end = path[i] === '(' ? endOfExpression(path, i) + 1 : i
    found.push({ name, expression: path.slice(i, end), start, end })
    if (end > i) i = end - 1
  }
  return found
}

/**
 * The index of the parenthesis that closes the one at `start`.
 *
 * @param escapes whether a backslash escapes the next character, as for the router
 */
export function endOfExpression(path: string, start: number, escapes = true): number {
  let depth = 0
  for (let i = start; i < path.length; i++) {
    if (escapes && path[i] === '\\') i++
    else if (path[i] === '(') depth++
    else if (path[i] === ')' && --depth === 0) return i
  }
  return path.length
}

// Outside: Fastify's router, which only says whether it has a route, and may keep a route under
// another path than the declared one.

const OPTIONAL = /(\/:[^/()]*?)\?(\/?)/

/**
 * The paths under which Fastify's router keeps a route. A route with an optional parameter becomes
 * two. Slashes are left out if the router ignores them.
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

export interface RouterPlace {
  readonly method: string
  readonly url: string
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
