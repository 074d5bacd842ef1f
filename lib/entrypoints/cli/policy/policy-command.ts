import { readFile, writeFile } from 'node:fs/promises'
import { constants } from 'node:os'
import { parseArgs } from 'node:util'
import { visible, visibleLines } from '../../../config/redact.ts'
import { errorCode } from '../../../platform/runtime/error.ts'
import { notCompared, placeWords } from '../../../routes/route-constraints.ts'
import {
  type Command,
  CommandFailure,
  type Paint,
  painter,
  readNumber,
  rejectRepeats,
  type Shell,
  UsageError,
} from '../command.ts'
import { observedMatrix, type PolicyReport } from '../observe/report.ts'
import { observeProgram } from '../observe/run-program.ts'
import { type Difference, matrixDifferences } from './diff-matrix.ts'
import { matrixJson, type PolicyMatrix, readMatrix } from './matrix.ts'
import { matrixPage } from './matrix-page.ts'
import { code, escapeMarkdown, matrixMarkdown, matrixTable } from './matrix-table.ts'

const HELP = `Usage: fastify-tenant-auth policy [options] -- node app.js

Runs the application until its guarded Fastify instances listen, which does not
happen, and shows who may use each route. The application's own output goes to
the standard error. Any command that starts Node will do: -- npm start

Options:
  --write FILE      write the policies to FILE, as JSON
  --check FILE      exit with 1 if the policies differ from those of FILE, and
                    say how; what opens something comes first
  --format FORMAT   table, json, markdown, or html: one page that loads nothing
  --json            the same as --format json
  --applications N  wait for N guarded instances, and exit with 1 if fewer come
  --timeout SECS    seconds that the application may take to listen (60)
  --help            this text

Instances that come more than a second after the last one has listened are found
only by --applications, or by --check as many as FILE has. A process that gets a
NODE_OPTIONS or an environment of its own is not seen, and does listen. What no
guard covers, settings, dev mode and superusers are not among the policies.

Exit codes: 0 all is well; 1 a difference, an application that fails, that never
listens or has no guard, or a FILE that cannot be used; 2 a wrong command line.
`

const FORMATS = ['table', 'json', 'markdown', 'html'] as const

type Format = (typeof FORMATS)[number]

export const policyCommand: Command = {
  name: 'policy',
  summary: 'show, write or check who may use each route of an application',
  help: HELP,
  async run(args, shell) {
    const options = readPolicyOptions(args)
    const { check, write, format, applications: least = 0 } = options
    // A file that cannot be used fails before the application is run.
    const expected = check === undefined ? undefined : await readMatrixFile(check)
    const count = Math.max(least, expected?.applications.length ?? 0)
    const patience = { limit: options.timeout * 1000, count }
    const observed = await observeProgram(options.program, shell, patience)
    if (observed.passedOn !== undefined) return 128 + constants.signals[observed.passedOn]
    const found = observedMatrix(observed, { least, count })
    for (const note of policyNotes(observed.reports)) shell.stderr.write(`${note}\n`)
    if (check !== undefined && expected !== undefined) {
      return reportDifferences(check, expected, found, format ?? 'table', shell)
    }
    const { matrix } = found
    if (write !== undefined) {
      // An existing file, or the target of a link, keeps its mode and owner.
      await writeFile(write, matrixJson(matrix)).catch((error: unknown) => {
        throw new CommandFailure(`${write} cannot be written (${errorCode(error)})`)
      })
      shell.stderr.write(`${visible(write)} is written: ${sizeOf(matrix)}\n`)
    }
    if (write === undefined || format !== undefined) {
      shell.stdout.write(formatMatrix(matrix, format ?? 'table', shell))
    }
    return 0
  },
}

function reportDifferences(
  file: string,
  was: PolicyMatrix,
  { matrix: is, uncovered }: ReturnType<typeof observedMatrix>,
  format: Format,
  shell: Shell,
): number {
  const differences = matrixDifferences(was, is, uncovered)
  const isSame = differences.length === 0
  const summary = isSame
    ? `${file} holds: ${sizeOf(is)}`
    : `${file} does not hold: differences ${differences.length}; if they are meant, --write it anew`
  if (format === 'html') {
    // A page that is kept is never empty.
    shell.stdout.write(matrixPage(is, { summary, differences }))
  } else if (!isSame || format === 'json') {
    shell.stdout.write(formatDifferences(differences, format, painter(shell.stdout, shell.env)))
  }
  shell.stderr.write(`${visible(summary)}\n`)
  return isSame ? 0 : 1
}

function formatMatrix(matrix: PolicyMatrix, format: Format, { stdout, env }: Shell): string {
  if (format === 'json') return matrixJson(matrix)
  if (format === 'markdown') return matrixMarkdown(matrix)
  if (format === 'html') return matrixPage(matrix)
  const paint = painter(stdout, env)
  return matrixTable(matrix, (line) => paint('yellow', line))
}

function sizeOf({ applications }: PolicyMatrix): string {
  const routes = applications.reduce((sum, application) => sum + application.routes.length, 0)
  return `applications ${applications.length}, routes ${routes}`
}

const COLOURS = { opens: 'red', closes: 'green', changes: 'yellow' } as const

function formatDifferences(
  differences: readonly Difference[],
  format: Format,
  paint: Paint,
): string {
  if (format === 'json') {
    const members = differences.map(({ effect, text, route }) => ({ effect, text, route }))
    return `${visibleLines(JSON.stringify({ differences: members }, null, 2))}\n`
  }
  const lines = differences.map(({ effect, ...words }) => {
    const [route, text] = [visible(words.route), visible(words.text)]
    return format === 'markdown'
      ? `- **${effect}** ${code(route)}: ${escapeMarkdown(text)}\n`
      : `${paint(COLOURS[effect], effect.padEnd('changes'.length))}  ${route}: ${text}\n`
  })
  return lines.join('')
}

/** Notes on a program that the matrix does not hold: one line each. */
export function policyNotes(reports: readonly PolicyReport[]): string[] {
  const isInDevMode = reports.some((report) => report.isInDevMode)
  const unguarded = reports
    .flatMap((report) => report.unguarded)
    .map((places) => {
      const [first = ''] = places.map(({ method, url }) => `${method} ${url}`)
      return `not in the matrix: a Fastify instance that listens without a guard, with ${places.length} routes, such as ${visible(first)}`
    })
  const notComparable = reports
    .flatMap(({ applications }) => applications.flatMap(({ routes }) => routes))
    .flatMap((route) => {
      const names = visible(notCompared(route).join(', '))
      const place = visible(`${route.method} ${placeWords(route)}`)
      return names === '' ? [] : [`the lock cannot compare ${names} of ${place}`]
    })
  // Several processes may run the same.
  return [...new Set([...(isInDevMode ? [DEV_MODE] : []), ...unguarded, ...notComparable])]
}

const DEV_MODE =
  'the application runs in dev mode: each request acts as the mock user, without a token; the matrix is what holds outside of dev mode'

const OPTIONS = {
  check: { type: 'string' },
  write: { type: 'string' },
  format: { type: 'string' },
  json: { type: 'boolean' },
  applications: { type: 'string' },
  timeout: { type: 'string' },
} as const

const BEHIND =
  "the application stands behind '--', as in '-- node app.js'; npm exec and yarn 1 take one '--' away, and need one more"

export function readPolicyOptions(args: readonly string[]) {
  const end = args.indexOf('--')
  const [file, ...rest] = end === -1 ? [] : args.slice(end + 1)
  const own = end === -1 ? args : args.slice(0, end)
  // The application has options too, so that those behind its name are not ours.
  const loose = parseArgs({ args: [...own], options: OPTIONS, strict: false, tokens: true })
  const stray = loose.tokens.find((token) => token.kind === 'positional')
  const { values, tokens } = parseArgs({
    tokens: true,
    args: own.slice(0, stray?.index),
    options: OPTIONS,
  })
  rejectRepeats(tokens)
  if (stray !== undefined) {
    throw new UsageError(`unexpected argument ${JSON.stringify(stray.value)}: ${BEHIND}`)
  }
  const { check, write } = values
  if (check !== undefined && write !== undefined) {
    throw new UsageError('--check and --write exclude each other')
  }
  if (check === '' || write === '') throw new UsageError('the name of the file is empty')
  if (file === undefined || file === '') {
    throw new UsageError("the application is missing: name it behind '--', as in '-- node app.js'")
  }
  return {
    check,
    write,
    format: formatOf(values.format, values.json === true),
    applications: readNumber(values.applications, APPLICATIONS, /^[1-9]\d*$/, 999),
    timeout: readNumber(values.timeout, TIMEOUT, POSITIVE, 2_147_483) ?? 60,
    program: [file, ...rest] as const,
  }
}

function formatOf(given: string | undefined, isJson: boolean): Format | undefined {
  if (given === undefined) return isJson ? 'json' : undefined
  const format = FORMATS.find((each) => each === given)
  if (format === undefined) {
    throw new UsageError(`--format is one of ${FORMATS.join(', ')}, not ${JSON.stringify(given)}`)
  }
  if (isJson && format !== 'json') throw new UsageError(`--json contradicts --format ${format}`)
  return format
}

const APPLICATIONS = '--applications is a number from 1 to 999'
const TIMEOUT = '--timeout is a number of seconds up to 2147483'

/** A decimal number above 0. */
const POSITIVE = /^(?=.*[1-9])\d+(?:\.\d+)?$/

const CURE = "make it with 'fastify-tenant-auth policy --write'"

async function readMatrixFile(file: string): Promise<PolicyMatrix> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new CommandFailure(`${file} cannot be read (${errorCode(error)}); ${CURE}`)
  })
  const matrix = readMatrix(text)
  if (typeof matrix !== 'string') return matrix
  throw new CommandFailure(`${file} cannot be used: ${matrix}; ${CURE}`)
}
