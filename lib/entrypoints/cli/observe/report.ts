import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ConstrainedRoute, type ListedPlace, wholeRoute } from '../../../routes/route-list.ts'
import { CommandFailure } from '../command.ts'
import { grouped, type UncoveredPlaces } from '../policy/diff-matrix.ts'
import { type PolicyMatrix, policyMatrix } from '../policy/matrix.ts'

/** The variable that names the folder in which each process of the application puts its report. */
export const FOLDER_VARIABLE = 'FASTIFY_TENANT_AUTH_POLICY'

/** The variable that says how many guarded applications all processes together wait for. */
export const COUNT_VARIABLE = 'FASTIFY_TENANT_AUTH_POLICY_APPLICATIONS'

/** How a program ended, and what was known of it then. */
export interface Observed {
  /** Its exit code; null if it had none yet. */
  readonly exitCode: number | null
  /** What killed it. */
  readonly signal: NodeJS.Signals | null
  /** A signal to the command itself, which was passed on. */
  readonly passedOn: NodeJS.Signals | undefined
  readonly isLate: boolean
  readonly reports: readonly PolicyReport[]
}

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
interface ObservedApplication {
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

/** The policies of a program, and what it serves outside of them. */
export interface ObservedMatrix {
  readonly matrix: PolicyMatrix
  readonly uncovered: UncoveredPlaces
}

/** How many guarded applications there should be. */
interface Expected {
  /** Fewer are an error. */
  readonly least: number
  /** As long as fewer have come, more are waited for. */
  readonly count: number
}

/**
 * The matrix of a program.
 *
 * @throws CommandFailure where it failed, or not all of its policies are known
 */
export function observedMatrix(observed: Observed, expected: Expected): ObservedMatrix {
  const { exitCode, signal, isLate, reports } = observed
  const applications = observedApplications(reports)
  const hasFailed = reports.some((report) => report.exitCode !== undefined && report.exitCode !== 0)
  if (signal !== null) throw new CommandFailure(`the application was ended by ${signal}`)
  if (exitCode !== null && exitCode !== 0) {
    throw new CommandFailure(`the application ended with exit code ${exitCode}`)
  }
  if (hasFailed) throw new CommandFailure('a process of the application has failed')
  const found = applications.length
  const isSilent = reports.some(({ silent }) => silent > 0)
  const isUnclear = isLate && !isInVain(reports, found < expected.count)
  if (isSilent || found === 0 || found < expected.least || isUnclear) {
    const end = isLate ? 'within the time limit; --timeout gives it more' : 'before it ended'
    throw new CommandFailure(whatIsMissing(reports, { found, least: expected.least, end }))
  }
  return {
    matrix: policyMatrix(applications.map(({ routes }) => routes)),
    uncovered: {
      beside: applications.map(({ beside }) => beside),
      unguarded: reports.flatMap(({ unguarded }) => unguarded.flat()),
    },
  }
}

/**
 * Whether all is known of what has come, and the rest of the time went by for applications that did
 * not come: those that were there once, and those of processes without a guard so far.
 */
function isInVain(reports: readonly PolicyReport[], areFewer: boolean): boolean {
  const running = reports.filter(({ exitCode }) => exitCode === undefined)
  if (running.some(({ awaited }) => awaited > 0)) return false
  const areUnguarded = running.every(({ applications }) => applications.length === 0)
  return areFewer || (running.length > 0 && areUnguarded)
}

interface Shortage {
  readonly found: number
  readonly least: number
  /** Until when it was missing. */
  readonly end: string
}

function whatIsMissing(reports: readonly PolicyReport[], { found, least, end }: Shortage): string {
  const total = (count: 'made' | 'listened' | 'silent'): number =>
    reports.reduce((sum, report) => sum + report[count], 0)
  if (total('made') === 0) return `the application made no Fastify instance ${end}`
  if (total('listened') === 0) return `the application did not listen ${end}`
  if (total('silent') > 0) return `one of the guarded Fastify instances did not listen ${end}`
  if (found === 0) return `no Fastify instance that has the plugin listened ${end}`
  if (found < least) return `${found} of ${least} guarded applications listened ${end}`
  return `one of the Fastify instances neither listened nor became ready ${end}`
}
