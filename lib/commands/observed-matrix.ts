import type { ConstrainedRoute } from '../inspection/listed-routes.ts'
import { type PolicyMatrix, policyMatrix } from '../inspection/policy-matrix.ts'
import { CommandFailure } from './command.ts'
import type { Observed } from './observe-program.ts'

/**
 * The matrix of a program.
 *
 * @throws CommandFailure where it failed, or not all of its policies are known
 */
export function observedMatrix(observed: Observed): PolicyMatrix {
  const { exitCode, signal, isLate, reports } = observed
  const applications = eachOnce(reports.map((report) => report.applications))
  const silent = reports.some((report) => report.silent > 0)
  const hasFailed = reports.some((report) => report.exitCode !== undefined && report.exitCode !== 0)
  if (signal !== null) throw new CommandFailure(`the application was ended by ${signal}`)
  if (exitCode !== null && exitCode !== 0) {
    throw new CommandFailure(`the application ended with exit code ${exitCode}`)
  }
  if (hasFailed) throw new CommandFailure('a process of the application has failed')
  if (silent || applications.length === 0 || isLate) {
    const end = isLate ? 'within the time limit; --timeout gives it more' : 'before it ended'
    throw new CommandFailure(`${whatIsMissing(observed)} ${end}`)
  }
  return policyMatrix(applications)
}

function whatIsMissing({ reports }: Observed): string {
  const total = (count: 'made' | 'listened' | 'silent'): number =>
    reports.reduce((sum, report) => sum + report[count], 0)
  if (total('made') === 0) return 'the application made no Fastify instance'
  if (total('listened') === 0) return 'the application did not listen'
  if (total('silent') > 0) return 'one of the guarded Fastify instances did not listen'
  const isGuarded = reports.some(({ applications }) => applications.length > 0)
  if (!isGuarded) return 'no Fastify instance that listened has a guard: none registered the plugin'
  return 'one of the Fastify instances neither listened nor became ready'
}

/** Several processes may run the same application. The order in which they come tells nothing. */
function eachOnce(
  processes: readonly (readonly (readonly ConstrainedRoute[])[])[],
): readonly (readonly ConstrainedRoute[])[] {
  const different = new Map(processes.map((each) => [JSON.stringify(each), each]))
  return [...different]
    .sort(([a], [b]) => Number(a > b) - Number(a < b))
    .flatMap(([, each]) => each)
}
