import type { EventEmitter } from 'node:events'

/** What a command is given of its process. */
export interface Shell {
  readonly env: NodeJS.ProcessEnv
  readonly stdout: Stream
  readonly stderr: Stream
  /** Told of signals by their names. */
  on: EventEmitter['on']
  off: EventEmitter['off']
}

export interface Stream {
  readonly isTTY?: boolean
  write(text: string): unknown
}

/** 0: done, and all is well. 1: it is not well. 2: the command line is wrong. */
export type ExitCode = number

/** One sub-command of `fastify-tenant-auth`. */
export interface Command {
  readonly name: string
  /** What it does, in one line. */
  readonly summary: string
  /** At most 24 lines of 80 columns. */
  readonly help: string
  /**
   * @param args what stands behind the command's name, without `--help`
   * @throws UsageError, CommandFailure, and an error of `parseArgs`
   */
  run(args: readonly string[], shell: Shell): Promise<ExitCode>
}

/** The command line is wrong: exit code 2. */
export class UsageError extends Error {}

/** The command cannot do what it is asked for: exit code 1. The message alone is shown. */
export class CommandFailure extends Error {}

/** A part of a command line, as `parseArgs` tells it. */
interface Token {
  readonly kind: string
  readonly name?: string
}

/**
 * Of an option that is given twice, `parseArgs` keeps the last value, and the other one would say
 * nothing.
 *
 * @param repeatable options of which each counts
 * @throws UsageError that names the first one that is given twice
 */
export function checkGivenOnce(tokens: readonly Token[], repeatable: readonly string[] = []): void {
  const options = tokens.filter(({ kind }) => kind === 'option')
  const names = options.flatMap(({ name = '' }) => (repeatable.includes(name) ? [] : name))
  const twice = names.find((name, index) => names.indexOf(name) < index)
  if (twice !== undefined) throw new UsageError(`--${twice} is given twice`)
}

/** What a terminal is told before and behind a text. */
const CODES = { red: [31, 39], green: [32, 39], yellow: [33, 39] } as const

type Colour = keyof typeof CODES

/** Gives a text a colour. */
export type Paint = (colour: Colour, text: string) => string

/**
 * Colours for a terminal, and none for a file or a pipe. `NO_COLOR` takes them away, and
 * `FORCE_COLOR` brings them back. An empty variable says nothing.
 */
export function painting(stream: Stream, env: Shell['env']): Paint {
  if (!isColoured(stream, env)) return (_colour, text) => text
  return (colour, text) => {
    const [on, off] = CODES[colour]
    return `\u001b[${on}m${text}\u001b[${off}m`
  }
}

function isColoured(stream: Stream, env: Shell['env']): boolean {
  const forced = env['FORCE_COLOR']
  if (forced) return forced !== '0' && forced !== 'false'
  const isRefused = Boolean(env['NO_COLOR']) || env['TERM'] === 'dumb'
  return stream.isTTY === true && !isRefused
}
