import type { PolicyReport } from '../../../lib/entrypoints/cli/observe/report.ts'
import type { ConstrainedRoute, ListedPlace } from '../../../lib/routes/route-list.ts'

/** A report of a process that has ended well. Its number is that of no process. */
export function reportOf(more: Partial<PolicyReport> = {}): PolicyReport {
  return {
    pid: 2 ** 22 + 1,
    startedAt: Date.now(),
    exitCode: 0,
    endedAt: Date.now(),
    made: 1,
    listened: 1,
    silent: 0,
    awaited: 0,
    applications: [],
    unguarded: [],
    unlisted: [],
    isInDevMode: false,
    isForeign: false,
    ...more,
  }
}

/** A guarded application with these routes, and these places outside of its guard. */
export function guarded(
  routes: readonly ConstrainedRoute[],
  beside: readonly ListedPlace[] = [],
): PolicyReport['applications'][number] {
  return { routes, beside }
}

/** A shell's program that writes reports, as processes of an application do, and then goes on. */
export function reporting(
  reports: readonly PolicyReport[],
  then = 'exit 0',
): readonly [file: string, ...args: string[]] {
  const lines = reports.map((_report, index) => {
    const file = `"$FASTIFY_TENANT_AUTH_POLICY/${index}.json"`
    return `printf '%s' "$${index + 1}" >${file}.new && mv ${file}.new ${file}`
  })
  const texts = reports.map((report) => JSON.stringify(report))
  return ['sh', '-c', [...lines, then].join('\n'), 'sh', ...texts]
}
