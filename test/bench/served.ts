import { type ChildProcess, fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import autocannon from 'autocannon'
import type { BenchSetup, GuardName } from './guards.ts'
import { quantile } from './statistics.ts'

/** The server's core. The load has the other one. */
const SERVER_CORE = '1'
const LOAD_CORE = '0'

export interface Figures {
  /** Requests for each second of the server's own CPU time. */
  readonly perCpuSecond: number
  readonly perSecond: number
  /** Milliseconds. */
  readonly p99: number
}

/** Whether servers and load run on cores of their own. */
export function pinLoad(): boolean {
  return spawnSync('taskset', ['-p', '-c', LOAD_CORE, String(process.pid)]).status === 0
}

/**
 * Waits without ever sleeping. Waking the load's core would cost the answering server work, and
 * more so the less the load has to do.
 */
async function awake<T>(load: PromiseLike<T>): Promise<T> {
  let isOver = false
  const spin = (): void => {
    if (!isOver) setImmediate(spin)
  }
  spin()
  try {
    return await load
  } finally {
    isOver = true
  }
}

/** One guarded server, to be put under load round by round. */
export class Served {
  readonly name: GuardName
  readonly #child: ChildProcess
  readonly #address: string

  private constructor(name: GuardName, child: ChildProcess, address: string) {
    this.name = name
    this.#child = child
    this.#address = address
  }

  static async start(name: GuardName, setup: BenchSetup): Promise<Served> {
    const child = fork(fileURLToPath(new URL('./server.ts', import.meta.url)), {
      env: { ...process.env, NODE_ENV: 'bench' },
    })
    spawnSync('taskset', ['-a', '-p', '-c', SERVER_CORE, String(child.pid)])
    child.send({ name, setup })
    const [{ address }] = await once(child, 'message')
    // Also the threads that were started meanwhile.
    spawnSync('taskset', ['-a', '-p', '-c', SERVER_CORE, String(child.pid)])
    return new Served(name, child, String(address))
  }

  async load(tokens: readonly string[], amount: number): Promise<Figures> {
    let next = 0
    const latencies: number[] = []
    const before = await this.#cpu()
    const start = performance.now()
    let end = start
    const load = autocannon({
      url: `${this.#address}/acme/menu`,
      connections: 10,
      amount,
      setupClient: (client) => {
        client.on('response', (_statusCode, _bytes, latency) => {
          latencies.push(latency)
          end = performance.now()
        })
      },
      requests: [
        {
          setupRequest: (request) => {
            next = (next + 1) % tokens.length
            return { ...request, headers: { authorization: `Bearer ${tokens[next]}` } }
          },
        },
      ],
    })
    const result = await awake(load)
    const cpu = (await this.#cpu()) - before
    if (result['2xx'] !== amount) {
      throw new Error(`${this.name}: ${result['2xx']} of ${amount} requests were answered with 2xx`)
    }
    return {
      perCpuSecond: amount / cpu,
      perSecond: (amount / (end - start)) * 1000,
      p99: quantile(latencies, 0.99),
    }
  }

  stop(): void {
    this.#child.disconnect()
  }

  /** Seconds. */
  async #cpu(): Promise<number> {
    this.#child.send('cpu')
    const [{ cpu }] = await once(this.#child, 'message')
    return (cpu.user + cpu.system) / 1e6
  }
}
