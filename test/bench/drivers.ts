import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import autocannon from 'autocannon'

/** What a server is sent in turn, again and again, and the one status that is right. */
export interface Load {
  readonly path: string
  /** Values of the Authorization header. Empty: requests without one. */
  readonly authorizations: readonly string[]
  /** A value of the DPoP header for each of them. Not given: there is none. */
  readonly proofs?: readonly string[]
  readonly status: number
}

/** How many answers came with each status. */
export type Statuses = ReadonlyMap<number, number>

/**
 * A program that keeps a server busy for at least so many seconds, over 32 connections.
 *
 * @throws Error if a connection fails
 */
export type Driver = (address: string, load: Load, seconds: number) => Promise<Statuses>

export const DRIVERS = ['wrk', 'autocannon'] as const

export type DriverName = (typeof DRIVERS)[number]

export const drivers: Readonly<Record<DriverName, Driver>> = {
  wrk: driveByWrk,
  autocannon: driveByAutocannon,
}

/** A package of Debian drives faster than one of npm. */
export function driverOfThisMachine(): DriverName {
  return spawnSync('wrk', ['-v']).error === undefined ? 'wrk' : 'autocannon'
}

const CONNECTIONS = 32

/** In the repository, which a bench runs in. */
const SCRIPT = 'test/bench/wrk.lua'

/** Seconds beyond a round until a wrk that hangs is ended. */
const PATIENCE = 30

/** https://github.com/wg/wrk, in one thread. It knows whole seconds only. */
async function driveByWrk(
  address: string,
  { path, authorizations, proofs = [] }: Load,
  seconds: number,
): Promise<Statuses> {
  const duration = Math.ceil(seconds)
  const options = ['-t1', `-c${CONNECTIONS}`, `-d${duration}s`, '--timeout', '10s', '-s', SCRIPT]
  const wrk = spawn('wrk', [...options, `${address}${path}`], {
    stdio: ['pipe', 'pipe', 'inherit'],
    timeout: (duration + PATIENCE) * 1000,
    killSignal: 'SIGKILL',
  })
  // A wrk that ends early says why by its status.
  wrk.stdin.on('error', () => undefined)
  const lines = authorizations.map((value, i) => `${value}\t${proofs[i] ?? ''}\n`)
  wrk.stdin.end(lines.join(''))
  const [output, [status]] = await Promise.all([text(wrk.stdout), once(wrk, 'close')])
  const [, failed, counts = ''] = /^failed (\d+)(.*)$/m.exec(output) ?? []
  if (status !== 0 || failed !== '0') throw new Error(`wrk ended with ${status}:\n${output}`)
  return new Map(
    [...counts.matchAll(/ (\d+) (\d+)/g)].map(([, code, count]) => [Number(code), Number(count)]),
  )
}

/** In this process. It needs more time for a request than the unguarded server does. */
async function driveByAutocannon(
  address: string,
  { path, authorizations, proofs }: Load,
  seconds: number,
): Promise<Statuses> {
  let next = 0
  const load = autocannon({
    url: `${address}${path}`,
    connections: CONNECTIONS,
    duration: seconds,
    // It ends with one of its samples only.
    sampleInt: 50,
    requests: [
      {
        setupRequest: (request) => {
          const at = next++ % authorizations.length
          const [authorization, dpop] = [authorizations[at], proofs?.[at]]
          if (authorization === undefined) return request
          return { ...request, headers: { authorization, ...(dpop && { dpop }) } }
        },
      },
    ],
  })
  const { errors, timeouts, statusCodeStats = {} } = await awake(load)
  if (errors + timeouts > 0) throw new Error(`autocannon: ${errors} errors, ${timeouts} timeouts`)
  return new Map(
    Object.entries(statusCodeStats).map(([status, { count = 0 }]) => [Number(status), count]),
  )
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
