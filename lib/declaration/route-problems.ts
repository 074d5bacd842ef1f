import type { Route } from './route.ts'

/** One line for each route. A mistake in a GET route is also in its HEAD twin, and is told once. */
export function routeProblems(
  problems: readonly { readonly route: Route; readonly found: string }[],
): string[] {
  const lines = problems.map(({ route: { methods, url }, found }) => ({
    methods: methods.join(', '),
    text: `${url}: ${found}`,
  }))
  const told = new Set(lines.flatMap(({ methods, text }) => (methods === 'GET' ? [text] : [])))
  return lines
    .filter(({ methods, text }) => methods !== 'HEAD' || !told.has(text))
    .map(({ methods, text }) => `${methods} ${text}`)
}
