import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { errorCode } from '../../../platform/runtime/error.ts'
import { CommandFailure, type Shell } from '../command.ts'
import {
  COUNT_VARIABLE,
  FOLDER_VARIABLE,
  guardedApplications,
  type Observation,
  type PolicyReport,
  readReports,
} from './report.ts'

/** Milliseconds between two readings of the reports. */
const INTERVAL = 50

/** Milliseconds for processes of the same program, after the first of them has reported. */
const BESIDE = 1500

/** Milliseconds for a process to end after a signal. */
const ENDING = 1000

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Runs a program whose Fastify instances only pretend to listen, until all have reported.
 *
 * @param limit milliseconds
 * @param count the number of guarded applications to wait for; 0: those that come at once
 * @throws CommandFailure if the program cannot be started
 */
export async function observeProgram(
  [file, ...args]: readonly [file: string, ...args: string[]],
  shell: Shell,
  { limit, count }: { readonly limit: number; readonly count: number },
): Promise<Observation> {
  const folder = reportFolder()
  let passedOn: NodeJS.Signals | undefined
  let child: ChildProcess | undefined
  const passOn = (signal: NodeJS.Signals): void => {
    passedOn = signal
  }
  for (const signal of SIGNALS) shell.on(signal, passOn)
  try {
    child = await startProgram(file, args, preloadEnvironment(shell.env, folder, count))
    const lateAt = performance.now() + limit
    for (;;) {
      const reports = readReports(folder)
      const isDone = isOver(child, reports, count)
      const isLate = !isDone && performance.now() >= lateAt
      const { exitCode, signalCode: signal } = child
      if (isDone || isLate || passedOn) return { exitCode, signal, passedOn, isLate, reports }
      await delay(INTERVAL)
    }
  } finally {
    if (child !== undefined) await endGroup(child, passedOn ?? 'SIGTERM')
    for (const signal of SIGNALS) shell.off(signal, passOn)
    rmSync(folder, { recursive: true, force: true })
  }
}

function reportFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), 'fastify-tenant-auth-'))
  } catch (error) {
    throw new CommandFailure(`cannot make a folder in ${tmpdir()}: ${errorCode(error)}`)
  }
}

async function startProgram(
  file: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<ChildProcess> {
  try {
    const child = spawn(file, args, {
      // The output of the program must not mix with the result.
      stdio: ['ignore', 2, 2],
      // A group of its own: its children can be ended with it.
      detached: true,
      env,
    })
    // Node throws some errors at once, and emits others.
    await once(child, 'spawn')
    return child
  } catch (error) {
    throw new CommandFailure(`cannot start ${file}: ${errorCode(error)}`)
  }
}

/** Options of the environment stay. A file URL has no space in it. */
function preloadEnvironment(
  env: NodeJS.ProcessEnv,
  folder: string,
  count: number,
): NodeJS.ProcessEnv {
  const preload = new URL(`preload${extname(import.meta.url)}`, import.meta.url)
  const options = [env['NODE_OPTIONS'], `--import=${preload.href}`]
  return {
    ...env,
    [FOLDER_VARIABLE]: folder,
    [COUNT_VARIABLE]: String(count),
    NODE_OPTIONS: options.filter(Boolean).join(' '),
  }
}

function isOver(
  { exitCode, signalCode }: ChildProcess,
  reports: readonly PolicyReport[],
  count: number,
): boolean {
  const running = reports.filter((report) => report.exitCode === undefined)
  if (signalCode !== null) return true
  if (exitCode !== null) return exitCode !== 0 || running.length === 0
  if (guardedApplications(reports).length < count) return false
  const ends = reports.flatMap(({ endedAt }) => endedAt ?? [])
  // A program may start a new process for each that ends. Nobody waits for later ones.
  const until = Math.min(...ends) + BESIDE
  return Date.now() >= until && !running.some(({ startedAt }) => startedAt <= until)
}

async function endGroup(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const exit = once(child, 'exit')
    kill(child, signal)
    await Promise.race([exit, delay(ENDING)])
  }
  kill(child, 'SIGKILL')
}

function kill(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    process.kill(-Number(child.pid), signal)
  } catch {
    // The group is gone, or the system knows none.
    child.kill(signal)
  }
}
