import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { placeWords } from '../../../routes/route-constraints.ts'
import type { ListedPlace } from '../../../routes/route-list.ts'
import { CommandFailure } from '../command.ts'
import { groupBy, type UncoveredPlaces } from '../policy/diff-matrix.ts'
import { type MatrixApplication, type PolicyMatrix, policyMatrix } from '../policy/matrix.ts'

/** The variable with the folder for the reports of all processes of the application. */
export const FOLDER_VARIABLE = 'FASTIFY_TENANT_AUTH_POLICY'

/** The variable with the number of guarded applications to wait for in all processes. */
export const COUNT_VARIABLE = 'FASTIFY_TENANT_AUTH_POLICY_APPLICATIONS'

export interface Observation {
  /** Null if it had none yet. */
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  /** A signal to the command itself, which was passed on. */
  readonly passedOn: NodeJS.Signals | undefined
  readonly isLate: boolean
  readonly reports: readonly PolicyReport[]
}

/** The Fastify instances of one process, or of one thread. */
export interface PolicyReport {
  readonly pid: number
  /** The time of the first instance, in milliseconds. */
  readonly startedAt: number
  /** Undefined while the process runs; null if something killed it. */
  readonly exitCode?: number | null | undefined
  readonly endedAt?: number | undefined
  readonly made: number
  readonly listened: number
  readonly silent: number
  /** The number of those that may yet listen, guarded or not. */
  readonly awaited: number
  /** Those that are guarded and have listened. */
  readonly applications: readonly ReportedApplication[]
  /** The places of each one that has listened without a guard, and serves routes. */
  readonly unguarded: readonly (readonly ListedPlace[])[]
  /** Places that a guard covers and does not list. */
  readonly unlisted: readonly ListedPlace[]
  readonly isInDevMode: boolean
  /** A guard is of another copy of this package, which does not show its settings. */
  readonly isForeign: boolean
}

interface ReportedApplication extends MatrixApplication {
  /** Its places outside of every guard. */
  readonly beside: readonly ListedPlace[]
}

/** Writes the report of one process, again and again. A reader sees a whole report or none. */
export function reportWriter(folder: string): (report: PolicyReport) => void {
  const file = join(folder, `${randomUUID()}.json`)
  return (report) => {
    writeFileSync(`${file}.new`, JSON.stringify(report))
    renameSync(`${file}.new`, file)
  }
}

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

/**
 * The guarded applications of all processes, and the places beside their routes that are outside of
 * every guard. Several processes may run the same ones, which count once, and write their routes
 * and start in any order.
 */
export function guardedApplications(reports: readonly PolicyReport[]): ReportedApplication[] {
  const different = groupBy(reports, ({ applications }) =>
    JSON.stringify(policyMatrix(applications)),
  )
  return [...different]
    .sort(([a], [b]) => Number(a > b) - Number(a < b))
    .flatMap(([, alike]) =>
      alike.slice(0, 1).flatMap(({ applications }) =>
        applications.map((application, index) => ({
          ...application,
          beside: alike.flatMap((report) => report.applications[index]?.beside ?? []),
        })),
      ),
    )
}

/**
 * The policies of a program, and the places that it serves outside of them.
 *
 * @param least fewer guarded applications are an error
 * @param count as long as fewer have come, more are awaited
 * @throws CommandFailure if the program failed, or not all of its policies are known
 */
export function observedMatrix(
  { exitCode, signal, isLate, reports }: Observation,
  { least, count }: { readonly least: number; readonly count: number },
): { readonly matrix: PolicyMatrix; readonly uncovered: UncoveredPlaces } {
  const applications = guardedApplications(reports)
  const hasFailed = reports.some((report) => report.exitCode !== undefined && report.exitCode !== 0)
  if (signal !== null) throw new CommandFailure(`the application was ended by ${signal}`)
  if (exitCode !== null && exitCode !== 0) {
    throw new CommandFailure(`the application ended with exit code ${exitCode}`)
  }
  if (hasFailed) throw new CommandFailure('a process of the application has failed')
  throwUnknown(reports)
  const found = applications.length
  const isSilent = reports.some(({ silent }) => silent > 0)
  const isUnclear = isLate && !hasWaitedInVain(reports, found < count)
  if (isSilent || found === 0 || found < least || isUnclear) {
    const end = isLate ? 'within the time limit; --timeout gives it more' : 'before it ended'
    const isMissing = !isSilent && (found === 0 || found < least)
    const hint = isMissing ? `; ${UNSEEN}` : ''
    throw new CommandFailure(`${shortage(reports, found, least)} ${end}${hint}`)
  }
  return {
    matrix: policyMatrix(applications),
    uncovered: {
      beside: applications.map(({ beside }) => beside),
      unguarded: reports.flatMap(({ unguarded }) => unguarded.flat()),
    },
  }
}

/**
 * A matrix that lacks something of a guard would be a matrix of another application.
 *
 * @throws CommandFailure if a guard does not report all that it has
 */
function throwUnknown(reports: readonly PolicyReport[]): void {
  if (reports.some(({ isForeign }) => isForeign)) {
    throw new CommandFailure(
      `the application has another copy of fastify-tenant-auth than this command, which does not show its settings: ${CURE}`,
    )
  }
  const [first, ...more] = reports.flatMap(({ unlisted }) => unlisted)
  if (first === undefined) return
  const others = more.length === 0 ? '' : ` and ${more.length} more`
  throw new CommandFailure(
    `a guard does not know ${first.method} ${placeWords(first)}${others}, which it covers: the application has loaded another copy of fastify-tenant-auth than this command, after Fastify had made the application; import it earlier, or ${CURE}`,
  )
}

const CURE = 'run the command of the copy in its node_modules, and the application unbundled'

/**
 * True if all is known of the applications that have come, and the time went by for others: for
 * those of the file, and those of processes without a guard so far.
 */
function hasWaitedInVain(reports: readonly PolicyReport[], areFewer: boolean): boolean {
  const running = reports.filter(({ exitCode }) => exitCode === undefined)
  if (running.some(({ awaited }) => awaited > 0)) return false
  const areUnguarded = running.every(({ applications }) => applications.length === 0)
  return areFewer || (running.length > 0 && areUnguarded)
}

const UNSEEN =
  'a process with NODE_OPTIONS or an environment of its own is not seen, and does listen'

function shortage(reports: readonly PolicyReport[], found: number, least: number): string {
  const has = (count: 'made' | 'listened' | 'silent') => reports.some((each) => each[count] > 0)
  if (!has('made')) return 'the application made no Fastify instance'
  if (!has('listened')) return 'the application did not listen'
  if (has('silent')) return 'one of the guarded Fastify instances did not listen'
  if (found === 0) return 'no Fastify instance that has the plugin listened'
  if (found < least) return `${found} of ${least} guarded applications listened`
  return 'one of the Fastify instances neither listened nor became ready'
}
