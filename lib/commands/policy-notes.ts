import { notCompared, placeWords } from '../inspection/route-constraints.ts'
import { visible } from '../settings/shown-value.ts'
import type { PolicyReport } from './policy-report.ts'

/** What the matrix does not say of a program: one line each. */
export function policyNotes(reports: readonly PolicyReport[]): string[] {
  // Several processes may run the same.
  const unguarded = new Set(
    reports.flatMap((report) =>
      report.unguarded.map((places) => {
        const [first = ''] = places.map(({ method, url }) => `${method} ${url}`)
        return `not in the matrix: a Fastify instance that listens without a guard, with ${places.length} routes, such as ${visible(first)}`
      }),
    ),
  )
  const compared = new Set(
    reports
      .flatMap(({ applications }) => applications.flat())
      .flatMap((route) => {
        const names = notCompared(route).join(', ')
        const place = `${route.method} ${placeWords(route)}`
        return names === ''
          ? []
          : [`the lock cannot compare ${visible(names)} of ${visible(place)}`]
      }),
  )
  const notes = [...unguarded, ...compared]
  const isInDevMode = reports.some((report) => report.isInDevMode)
  return isInDevMode ? [DEV_MODE, ...notes] : notes
}

const DEV_MODE =
  'the application runs in dev mode: each request acts as the mock user, without a token; the matrix is what holds outside of dev mode'
