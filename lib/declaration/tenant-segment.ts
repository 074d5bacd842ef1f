const COLON = ':'
const ENDS_OF_NAME = ['(', '-', '.', '/']

/**
 * Whether a path has a parameter named exactly `name`, at any place. Reads the pattern as Fastify's
 * router does: `::` is a literal colon; a name ends at `(`, `-`, `.` or `/`; a regular expression
 * may hold anything; a `?` at the end of a name makes it optional.
 */
export function hasTenantSegment(path: string, name: string): boolean {
  return parameterNames(path).includes(name)
}

export function parameterNames(path: string): string[] {
  const names: string[] = []
  for (let i = 0; i < path.length; i++) {
    if (path[i] !== COLON) continue
    if (path[i + 1] === COLON) {
      i++
      continue
    }
    const start = i + 1
    while (i < path.length && !ENDS_OF_NAME.includes(path.charAt(i))) i++
    names.push(path.slice(start, i).replace(/\?$/, ''))
    if (path[i] === '(') i = endOfExpression(path, i)
  }
  return names
}

/** The index of the parenthesis that closes the one at `start`. */
function endOfExpression(path: string, start: number): number {
  let depth = 0
  for (let i = start; i < path.length; i++) {
    if (path[i] === '\\') i++
    else if (path[i] === '(') depth++
    else if (path[i] === ')' && --depth === 0) return i
  }
  return path.length
}
