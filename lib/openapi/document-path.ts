import { type Draft, draft, list } from './draft.ts'

const NAME = /^\w+/

/**
 * A route's url as @fastify/swagger writes it: `/:tenant/x` is `/{tenant}/x`, `*` is `{*}`, a
 * regular expression is left out, `::` is a colon. The result must be the same to the letter,
 * because another spelling is another path.
 */
export function documentPath(url: string): string {
  let path = ''
  let unnamed = 0
  for (let i = 0; i < url.length; i++) {
    const char = url[i]
    if (char === ':' && url[i + 1] === ':') {
      path += ':'
      i++
    } else if (char === ':' || char === '(') {
      const name = char === ':' ? (NAME.exec(url.slice(i + 1))?.[0] ?? '') : ''
      i += char === ':' ? name.length + 1 : 0
      const isExpression = url[i] === '('
      const end = isExpression ? endOfExpression(url, i) : i
      // A parenthesis that is never closed takes in the rest, and the parameter with it.
      if (end === url.length && (isExpression || name === '')) return path
      path += `{${isExpression && name === '' ? `regexp${++unnamed}` : name}}`
      // The character that ends a name is taken as it is.
      if (!isExpression) path += url[end] ?? ''
      i = end
    } else {
      path += char === '*' ? '{*}' : char
    }
  }
  return path
}

/**
 * The index of the parenthesis that closes the one at `start`. Escaped ones count, as in
 * @fastify/swagger.
 */
function endOfExpression(url: string, start: number): number {
  let depth = 0
  for (let i = start; i < url.length; i++) {
    if (url[i] === '(') depth++
    else if (url[i] === ')' && --depth === 0) return i
  }
  return url.length
}

/**
 * A url without the base paths of a document's servers. By default @fastify/swagger takes them off.
 */
export function withoutBasePaths(url: string, basePaths: readonly string[]): string {
  return basePaths.reduce(
    (rest, basePath) => (rest.startsWith(basePath) ? rest.slice(basePath.length) : rest),
    url,
  )
}

/** The base paths of a document's `servers`. Variables have their defaults. */
export function basePathsOf(servers: unknown): string[] {
  return list(servers)
    .map((server) => basePathOf(draft(server)))
    .filter((basePath) => basePath !== '/' && basePath !== '')
}

function basePathOf({ url, variables }: Draft): string {
  if (typeof url !== 'string') return ''
  const values = draft(variables)
  const resolved = url.replaceAll(/\{([^{}]+)\}/g, (variable, name: string) => {
    const { default: value } = draft(values[name])
    return value === Object(value) ? variable : String(value)
  })
  if (resolved.startsWith('/')) return resolved
  return URL.canParse(resolved) ? new URL(resolved).pathname : ''
}
