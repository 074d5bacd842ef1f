import type { EventEmitter } from 'node:events'
import { styleText } from 'node:util'

export interface Shell {
  readonly env: NodeJS.ProcessEnv
  readonly stdout: Stream
  readonly stderr: Stream
  /** Signals are events, by their names. */
  on: EventEmitter['on']
  off: EventEmitter['off']
}

interface Stream {
  readonly isTTY?: boolean
  write(text: string): unknown
}

/** 0: done, and all is well. 1: it is not well. 2: the command line is wrong. */
export type ExitCode = number

export interface Command {
  readonly name: string
  readonly summary: string
  /** At most 24 lines of 80 columns. */
  readonly help: string
  run(args: readonly string[], shell: Shell): Promise<ExitCode>
}

/** The command line is wrong: exit code 2. */
export class UsageError extends Error {}

/** The command cannot do its work: exit code 1. The message alone is shown. */
export class CommandFailure extends Error {}

/**
 * `parseArgs` silently keeps the last of repeated options, so repeats are rejected.
 *
 * @param tokens those of `parseArgs`
 * @param repeatable options of which each counts
 * @throws UsageError that names the first repeated one
 */
export function rejectRepeats(
  tokens: readonly { readonly kind: string; readonly name?: string }[],
  repeatable: readonly string[] = [],
): void {
  const names = tokens.flatMap(({ name }) => (!name || repeatable.includes(name) ? [] : name))
  const twice = names.find((name, index) => names.indexOf(name) < index)
  if (twice !== undefined) throw new UsageError(`--${twice} is given twice`)
}

export function readNumber(
  text: string | undefined,
  rule: string,
  pattern: RegExp,
  most: number,
): number | undefined {
  if (text === undefined) return undefined
  if (pattern.test(text) && Number(text) <= most) return Number(text)
  throw new UsageError(`${rule}, not ${JSON.stringify(text)}`)
}

export type Paint = (colour: 'red' | 'green' | 'yellow', text: string) => string

/**
 * Colours for a terminal, and none for a file or a pipe. `NO_COLOR` takes them away, and
 * `FORCE_COLOR` brings them back. An empty variable says nothing.
 */
export function painter(stream: Stream, env: Shell['env']): Paint {
  const { FORCE_COLOR: forced, NO_COLOR: refused, TERM: terminal } = env
  const hasColours = forced
    ? forced !== '0' && forced !== 'false'
    : stream.isTTY === true && !refused && terminal !== 'dumb'
  return (colour, text) => (hasColours ? styleText(colour, text, { validateStream: false }) : text)
}
