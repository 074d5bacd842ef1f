import { type ChildProcess, fork } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Answer, Task } from './task.ts'

/** Bytes from which on a worker is replaced: modules that were loaded once are never forgotten. */
const MOST_HELD = 1_000_000_000

/** Milliseconds between two looks at how much a worker has worked. */
const LOOK_EVERY = 500

const ARGUMENTS = ['--experimental-vm-modules', '--no-warnings', '--import', 'tsx']

/** How a test file has ended: an answer, or none in time, or with its process. */
export type Outcome = Answer | 'late' | 'ended'

/** Asks a worker, and another one after one that has ended or is late. */
export class Laboratory {
  #worker: ChildProcess | null = null

  /** @param limit milliseconds of a processor's work */
  async run(task: Task, limit: number): Promise<Outcome> {
    this.#worker ??= fork(join(import.meta.dirname, 'worker.ts'), {
      execArgv: ARGUMENTS,
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    const outcome = await outcomeOf(this.#worker, task, limit)
    if (typeof outcome === 'string' || outcome.held > MOST_HELD) this.close()
    return outcome
  }

  close(): void {
    this.#worker?.kill('SIGKILL')
    this.#worker = null
  }
}

function outcomeOf(worker: ChildProcess, task: Task, limit: number): Promise<Outcome> {
  return new Promise((settle) => {
    const from = workOf(worker)
    const timer = setInterval(() => {
      if (workOf(worker) - from > limit) end('late')
    }, LOOK_EVERY)
    const end = (outcome: Outcome) => {
      clearInterval(timer)
      worker.removeAllListeners()
      settle(outcome)
    }
    worker.once('exit', () => end('ended')).once('error', () => end('ended'))
    worker.once('message', end)
    worker.send(task)
  })
}

/**
 * Milliseconds that a process has worked, in which others have not taken the processor. Where the
 * system does not tell it: milliseconds.
 */
function workOf({ pid }: ChildProcess): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    return (Number(fields[11]) + Number(fields[12])) * 10
  } catch {
    return performance.now()
  }
}
