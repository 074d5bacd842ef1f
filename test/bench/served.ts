import { type ChildProcess, fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { programFile } from '../helpers/processes/program.ts'
import type { BenchSetup, GuardName } from './guards.ts'

/** Milliseconds until a server must have answered. */
const PATIENCE = 300_000

/** All servers stand on one core. The load has the other one. */
const SERVERS = '0'
const LOAD = '1'

/** Moves this process, and what it starts from now on. False: cores cannot be chosen here. */
export function pinLoad(): boolean {
  return pin(process.pid, LOAD)
}

/** Moves a process with all its threads. */
function pin(pid: number, core: string): boolean {
  return spawnSync('taskset', ['-a', '-p', '-c', core, String(pid)]).status === 0
}

/** A guarded server in a process of its own. */
export class Served {
  readonly address: string
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, address: string) {
    this.#child = child
    this.address = address
  }

  /** @param isPinned whether it stands on the core of the servers */
  static async start(name: GuardName, setup: BenchSetup, isPinned: boolean): Promise<Served> {
    const child = fork(programFile('test/bench/server.ts'), {
      env: { ...process.env, NODE_ENV: 'bench' },
    })
    try {
      const place = (): unknown => isPinned && child.pid !== undefined && pin(child.pid, SERVERS)
      place()
      child.send({ name, setup })
      const { address } = await answerOf(child)
      // Also the threads that were started meanwhile.
      place()
      return new Served(child, String(address))
    } catch (error) {
      child.kill('SIGKILL')
      throw error
    }
  }

  /** Microseconds of user and system time that it has used so far, all its threads together. */
  async cpuTime(): Promise<number> {
    this.#child.send('cpu')
    const { cpu } = await answerOf(this.#child)
    if (cpu === undefined) throw new Error('the server has not said its CPU time')
    return cpu.user + cpu.system
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const killing = setTimeout(() => this.#child.kill('SIGKILL'), 5_000)
    const ended = once(this.#child, 'exit')
    if (this.#child.connected) this.#child.disconnect()
    await ended
    clearTimeout(killing)
  }
}

interface Answer {
  readonly address?: string
  readonly cpu?: NodeJS.CpuUsage
}

/** The next message of a server. A server that ends instead is an error at once. */
async function answerOf(child: ChildProcess): Promise<Answer> {
  const over = new AbortController()
  const signal = AbortSignal.any([over.signal, AbortSignal.timeout(PATIENCE)])
  const ended = once(child, 'exit', { signal }).then(([code, killer]) => {
    throw new Error(`the server has ended with ${code ?? killer}`)
  })
  try {
    const [answer] = await Promise.race([once(child, 'message', { signal }), ended])
    return answer
  } finally {
    over.abort()
  }
}
