import { constants } from 'node:os'
import { matrixDifferences } from '../inspection/matrix-difference.ts'
import { matrixMarkdown, matrixTable } from '../inspection/matrix-table.ts'
import { matrixJson, type PolicyMatrix } from '../inspection/policy-matrix.ts'
import { visible } from '../settings/shown-value.ts'
import { painting } from './colours.ts'
import type { Command, ExitCode, Shell } from './command.ts'
import { readMatrixFile, writeMatrixFile } from './matrix-file.ts'
import { observeProgram } from './observe-program.ts'
import { type ObservedMatrix, observedMatrix } from './observed-matrix.ts'
import { policyNotes } from './policy-notes.ts'
import { type Format, readPolicyOptions } from './policy-options.ts'
import { toldDifferences } from './told-differences.ts'

const HELP = `Usage: fastify-tenant-auth policy [options] -- node app.js

Runs the application until its guarded Fastify instances listen, which does not
happen, and shows who may use each route. The application's own output goes to
the standard error. Any command that starts Node will do: -- npm start

Options:
  --write FILE      write the policies to FILE, as JSON
  --check FILE      exit with 1 if the policies differ from those of FILE, and
                    tell how; what opens something comes first
  --format FORMAT   table, json or markdown
  --json            the same as --format json
  --applications N  wait for N guarded instances, and exit with 1 if fewer come
  --timeout SECS    seconds that the application may take to listen (60)
  --help            this text

Instances that come more than a second after the last one has listened are found
only by --applications, or by --check as many as FILE has. What no guard covers,
the settings, dev mode and superusers are not among the policies.

Exit codes: 0 all is well; 1 a difference, an application that fails, that never
listens or has no guard, or a FILE that cannot be used; 2 a wrong command line.
`

/** Shows, writes or checks the policies of an application. */
export const policyCommand: Command = {
  name: 'policy',
  summary: 'show, write or check who may use each route of an application',
  help: HELP,
  run: runPolicy,
}

async function runPolicy(args: readonly string[], shell: Shell): Promise<ExitCode> {
  const options = readPolicyOptions(args)
  const { check, write, format, applications: least = 0 } = options
  // A file that cannot be used is told before the application is run.
  const expected = check === undefined ? undefined : await readMatrixFile(check)
  const count = Math.max(least, expected?.applications.length ?? 0)
  const patience = { limit: options.timeout * 1000, count }
  const observed = await observeProgram(options.program, shell, patience)
  if (observed.passedOn !== undefined) return 128 + constants.signals[observed.passedOn]
  const found = observedMatrix(observed, { least, count })
  for (const note of policyNotes(observed.reports)) shell.stderr.write(`${note}\n`)
  if (check !== undefined && expected !== undefined) {
    return tellDifferences(check, expected, found, format ?? 'table', shell)
  }
  const { matrix } = found
  if (write !== undefined) {
    await writeMatrixFile(write, matrix)
    shell.stderr.write(`${visible(write)} is written: ${sizeOf(matrix)}\n`)
  }
  if (write === undefined || format !== undefined) {
    shell.stdout.write(shown(matrix, format ?? 'table', shell))
  }
  return 0
}

function tellDifferences(
  file: string,
  was: PolicyMatrix,
  { matrix: is, uncovered }: ObservedMatrix,
  format: Format,
  shell: Shell,
): ExitCode {
  const differences = matrixDifferences(was, is, uncovered)
  const isSame = differences.length === 0
  const summary = isSame
    ? `${file} holds: ${sizeOf(is)}`
    : `${file} does not hold: ${differences.length} differences; if they are meant, --write it anew`
  if (!isSame || format === 'json') {
    shell.stdout.write(toldDifferences(differences, format, painting(shell.stdout, shell.env)))
  }
  shell.stderr.write(`${visible(summary)}\n`)
  return isSame ? 0 : 1
}

function shown(matrix: PolicyMatrix, format: Format, { stdout, env }: Shell): string {
  if (format === 'json') return matrixJson(matrix)
  if (format === 'markdown') return matrixMarkdown(matrix)
  const paint = painting(stdout, env)
  return matrixTable(matrix, (line) => paint('yellow', line))
}

function sizeOf({ applications }: PolicyMatrix): string {
  const routes = applications.reduce((sum, application) => sum + application.routes.length, 0)
  return `applications ${applications.length}, routes ${routes}`
}
