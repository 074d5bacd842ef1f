import { parseArgs } from 'node:util'
import { UsageError } from './command.ts'
import { checkGivenOnce } from './given-once.ts'

const FORMATS = ['table', 'json', 'markdown'] as const

export type Format = (typeof FORMATS)[number]

export interface PolicyOptions {
  /** The file that the policies must agree with. */
  readonly check: string | undefined
  /** The file that is written. */
  readonly write: string | undefined
  /** Undefined: not given. */
  readonly format: Format | undefined
  /** How many guarded applications there should be. Undefined: not given. */
  readonly applications: number | undefined
  /** Seconds. */
  readonly timeout: number
  /** The program that runs the application, and its arguments. */
  readonly program: readonly [file: string, ...args: string[]]
}

const DEFAULT_TIMEOUT = 60

/** The longest time that a timer can wait, in seconds. */
const MOST = 2_147_483

/** @throws UsageError, and an error of `parseArgs` */
export function readPolicyOptions(args: readonly string[]): PolicyOptions {
  const end = args.indexOf('--')
  const [file, ...rest] = end === -1 ? [] : args.slice(end + 1)
  const { values, tokens } = parseArgs({
    tokens: true,
    args: end === -1 ? [...args] : args.slice(0, end),
    options: {
      check: { type: 'string' },
      write: { type: 'string' },
      format: { type: 'string' },
      json: { type: 'boolean' },
      applications: { type: 'string' },
      timeout: { type: 'string' },
    },
  })
  checkGivenOnce(tokens)
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
    applications: countOf(values.applications),
    timeout: secondsOf(values.timeout),
    program: [file, ...rest],
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

function countOf(given: string | undefined): number | undefined {
  if (given === undefined) return undefined
  if (/^[1-9]\d{0,2}$/.test(given)) return Number(given)
  throw new UsageError(`--applications is a number from 1 to 999, not ${JSON.stringify(given)}`)
}

function secondsOf(given: string | undefined): number {
  if (given === undefined) return DEFAULT_TIMEOUT
  const seconds = /^\d+(?:\.\d+)?$/.test(given) ? Number(given) : Number.NaN
  if (seconds > 0 && seconds <= MOST) return seconds
  throw new UsageError(
    `--timeout is a number of seconds up to ${MOST}, not ${JSON.stringify(given)}`,
  )
}
