import type { UncoveredPlaces } from '../inspection/matrix-difference.ts'
import { type PolicyMatrix, policyMatrix } from '../inspection/policy-matrix.ts'
import { CommandFailure } from './command.ts'
import type { Observed } from './observe-program.ts'
import { observedApplications, type PolicyReport } from './policy-report.ts'

/** The policies of a program, and what it serves outside of them. */
export interface ObservedMatrix {
  readonly matrix: PolicyMatrix
  readonly uncovered: UncoveredPlaces
}

/** How many guarded applications there should be. */
export interface Expected {
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
