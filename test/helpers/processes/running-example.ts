import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { TestContext } from 'node:test'
import { runs } from './program.ts'

/** An example that runs as a process of its own, as a reader starts it. */
export interface RunningExample {
  readonly child: ChildProcess
  /** All that it has printed so far. */
  readonly printed: { stdout: string; stderr: string }
  /**
   * Resolves once its standard output holds the text. Rejects if the process ends before, or is
   * late.
   */
  until(text: string): Promise<void>
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>
}

/** What a process ends with: a test, or all tests of a file. */
export interface Owner {
  after(end: () => unknown): void
}

/** Starts an example of test/examples. It is ended with the test, if it still runs. */
export function runExample(
  t: Owner,
  [file = '', ...args]: readonly string[],
  env: Readonly<Record<string, string>> = {},
): RunningExample {
  return runCommand(t, [process.execPath, ...runs(file), ...args], env)
}

/** The same with any command, as a reader types it. The processes that it started end with it. */
export function runCommand(
  t: Owner,
  [command = '', ...args]: readonly string[],
  env: Readonly<Record<string, string>> = {},
): RunningExample {
  const child = spawn(command, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const printed = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed.stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    printed.stderr += text
  })
  const ended = once(child, 'close').then(([code, signal]) => code ?? signal)
  t.after(() => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
      process.kill(-child.pid, 'SIGKILL')
    }
    return ended
  })
  const until = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (printed.stdout.includes(text)) resolve()
      }
      child.stdout.on('data', look)
      child.once('close', () => reject(new Error(`ended early: ${printed.stderr}`)))
      const late = () => reject(new Error(`did not print ${text}: ${printed.stderr}`))
      setTimeout(late, 180_000).unref()
      look()
    })
  return { child, printed, until, ended }
}

/** A port of 127.0.0.1 that is taken until the test ends. */
export async function takenPort(t: TestContext): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => void server.close())
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}
