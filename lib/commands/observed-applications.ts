import { grouped } from '../inspection/grouped.ts'
import type { ListedPlace, ListedRoute } from '../inspection/listed-routes.ts'
import type { PolicyReport } from './policy-report.ts'

/** A guarded application that has listened. */
export interface ObservedApplication {
  readonly routes: readonly ListedRoute[]
  /** Its places outside of every guard. */
  readonly beside: readonly ListedPlace[]
}

/**
 * The guarded applications of all processes. Several processes may run the same ones, which count
 * once. The order in which processes come tells nothing.
 */
export function observedApplications(reports: readonly PolicyReport[]): ObservedApplication[] {
  const different = grouped(reports, ({ applications }) => JSON.stringify(applications))
  return [...different]
    .sort(([a], [b]) => Number(a > b) - Number(a < b))
    .flatMap(([, alike]) =>
      alike.slice(0, 1).flatMap(({ applications }) =>
        applications.map((routes, index) => ({
          routes,
          beside: alike.flatMap(({ beside }) => beside[index] ?? []),
        })),
      ),
    )
}
