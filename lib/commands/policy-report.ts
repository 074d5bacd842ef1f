import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { grouped } from '../inspection/grouped.ts'
import { type ConstrainedRoute, type ListedPlace, wholeRoute } from '../inspection/listed-routes.ts'

/** The variable that names the folder in which each process of the application puts its report. */
export const FOLDER_VARIABLE = 'FASTIFY_TENANT_AUTH_POLICY'

/** The variable that says how many guarded applications all processes together wait for. */
export const COUNT_VARIABLE = 'FASTIFY_TENANT_AUTH_POLICY_APPLICATIONS'

/** What one process, or one thread, knows of its Fastify instances. */
export interface PolicyReport {
  readonly pid: number
  /** When the first instance was made, in milliseconds. */
  readonly startedAt: number
  /** Undefined while the process runs; null if something killed it. */
  readonly exitCode?: number | null | undefined
  /** When it ended, in milliseconds. */
  readonly endedAt?: number | undefined
  /** How many Fastify instances have been made. */
  readonly made: number
  /** How many of them have been told to listen. */
  readonly listened: number
  /** How many guarded ones have not. */
  readonly silent: number
  /** How many may yet listen, guarded or not. */
  readonly awaited: number
  /** The routes of those that are guarded and have listened. */
  readonly applications: readonly (readonly ConstrainedRoute[])[]
  /** Of each of these: its places outside of every guard. */
  readonly beside: readonly (readonly ListedPlace[])[]
  /** The places of each one that has listened without a guard, and serves routes. */
  readonly unguarded: readonly (readonly ListedPlace[])[]
  /** Whether a guard runs in dev mode. */
  readonly isInDevMode: boolean
}

/** A new place for the reports of one process, or of one thread. */
export function reportFile(folder: string): string {
  return join(folder, `${randomUUID()}.json`)
}

/** A reader sees a whole report or none. */
export function writeReport(file: string, report: PolicyReport): void {
  const applications = report.applications.map((routes) => routes.map(wholeRoute))
  writeFileSync(`${file}.new`, JSON.stringify({ ...report, applications }))
  renameSync(`${file}.new`, file)
}

/** The reports so far, the oldest process first. */
export function readReports(folder: string): PolicyReport[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name): PolicyReport => JSON.parse(readFileSync(join(folder, name), 'utf8')))
    .map((report) => (isRunning(report) ? report : { exitCode: null, ...report }))
    .sort((a, b) => a.startedAt - b.startedAt)
}

function isRunning({ pid, exitCode }: PolicyReport): boolean {
  if (exitCode !== undefined) return false
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** A guarded application that has listened. */
export interface ObservedApplication {
  readonly routes: readonly ConstrainedRoute[]
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
