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

const OPTIONAL = /(\/:[^/()]*?)\?(\/?)/

/** A path with an optional parameter, with and without it. */
export function withAndWithoutOptional(url: string): string[] {
  return OPTIONAL.test(url)
    ? [url.replace(OPTIONAL, '$1$2'), url.replace(OPTIONAL, '$2') || '/']
    : [url]
}
