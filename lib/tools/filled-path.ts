import { pathParameters } from '../declaration/tenant-segment.ts'

/** A path of a route with a value for each parameter. */
export interface FilledPath {
  readonly path: string
  readonly values: ReadonlyMap<string, string>
}

/**
 * Fills a path as the router reads it. The parameter of a wildcard is called `*`.
 *
 * @param samplesOf what a parameter may be, the best first
 * @returns the path, or the name of the first parameter that no known value fits
 */
export function fillPath(
  url: string,
  samplesOf: (name: string) => readonly string[],
): FilledPath | string {
  const values = new Map<string, string>()
  let path = ''
  let at = 0
  for (const { name, expression, start, end } of pathParameters(url)) {
    const found = fitting(expression, samplesOf(name))
    if (found === undefined) return name
    values.set(name, found)
    path += literal(url.slice(at, start)) + encodeURIComponent(found)
    at = end
  }
  const rest = url.slice(at)
  path += rest.endsWith('*')
    ? literal(rest.slice(0, -1)) + literal(`${samplesOf('*')[0]}`)
    : literal(rest)
  return { path: path.startsWith('/') ? path : `/${path}`, values }
}

/** The router does not look at `^` and `$` at the ends of an expression. */
function fitting(expression: string, samples: readonly string[]): string | undefined {
  if (expression === '') return samples.find((sample) => sample !== '')
  const source = expression.slice(1, -1).replace(/^\^/, '').replace(/\$$/, '')
  const whole = new RegExp(`^(?:${source})$`)
  return samples.find((sample) => sample !== '' && whole.test(sample))
}

/** What stands between parameters. There `::` is a colon. */
function literal(text: string): string {
  return encodeURI(text.replaceAll('::', ':'))
}
