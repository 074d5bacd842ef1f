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
