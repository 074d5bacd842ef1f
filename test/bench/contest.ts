import { type Driver, type DriverName, drivers, type Load } from './drivers.ts'
import type { BenchSetup, GuardName } from './guards.ts'
import { Served } from './served.ts'
import { median } from './statistics.ts'

/** A server, and what it is sent. */
export interface Contestant {
  readonly name: string
  readonly guard: GuardName
  readonly setup: BenchSetup
  readonly load: Load
}

/** Microseconds of CPU time that a contestant has used for one request, round by round. */
export type Costs = ReadonlyMap<string, readonly number[]>

/** A contestant whose server runs. */
export interface Running extends Contestant {
  readonly server: Served
}

/** Requests before the first round: twice the most tokens of a load. A slow server gets fewer. */
const WARM_UP = 20_000
const WARM_UP_ROUNDS = 20

/** A server that has less of its core finds fewer requests each time that it reads. */
const BUSY = 0.75

export interface Rounds {
  readonly rounds: number
  /** Seconds that each contestant is driven for in a round. */
  readonly seconds: number
  readonly drivers: readonly DriverName[]
  readonly isPinned: boolean
}

/** All contestants in turn, and in the next round back, each in a process of its own. */
export async function contest(
  contestants: readonly Contestant[],
  { rounds, seconds, drivers: names, isPinned }: Rounds,
): Promise<ReadonlyMap<DriverName, Costs>> {
  const running = await startAll(contestants, isPinned)
  try {
    const results = new Map<DriverName, Costs>()
    for (const name of names) {
      const driver = drivers[name]
      for (const each of running) await warmUp(each, driver, seconds)
      const costs = new Map(running.map((each): [string, number[]] => [each.name, []]))
      const shares: number[] = []
      for (let round = 0; round < rounds; round++) {
        for (const each of round % 2 === 0 ? running : running.toReversed()) {
          const { cost, share } = await driveOnce(each, driver, seconds)
          costs.get(each.name)?.push(cost)
          shares.push(share)
        }
      }
      if (median(shares) < BUSY) {
        const percent = Math.round(median(shares) * 100)
        console.error(`${name} left the servers idle, or others took their core: ${percent} % busy`)
      }
      results.set(name, costs)
    }
    return results
  } finally {
    await Promise.all(running.map(({ server }) => server.stop()))
  }
}

/**
 * Microseconds of CPU time for one request, and the share of the time in which it ran.
 *
 * @throws Error if an answer has another status than the load names
 */
export async function driveOnce(
  { name, server, load }: Running,
  driver: Driver,
  seconds: number,
): Promise<{ requests: number; cost: number; share: number }> {
  const [begun, before] = [performance.now(), await server.cpuTime()]
  const statuses = await driver(server.address, load, seconds)
  const used = (await server.cpuTime()) - before
  const share = used / 1000 / (performance.now() - begun)
  const requests = statuses.get(load.status) ?? 0
  if (requests === 0 || statuses.size > 1) {
    const counts = [...statuses]
      .map(([status, count]) => `${count} answers of ${status}`)
      .join(', ')
    throw new Error(`${name}: ${counts || 'no answer'}, and each should be ${load.status}`)
  }
  return { requests, cost: used / requests, share }
}

/** Until the server's code is compiled, and its cache holds what it can. */
async function warmUp(each: Running, driver: Driver, seconds: number): Promise<void> {
  let sent = 0
  for (let round = 0; sent < WARM_UP && round < WARM_UP_ROUNDS; round++) {
    sent += (await driveOnce(each, driver, seconds)).requests
  }
}

async function startAll(contestants: readonly Contestant[], isPinned: boolean): Promise<Running[]> {
  const starts = contestants.map(async (contestant) => {
    const server = await Served.start(contestant.guard, contestant.setup, isPinned)
    return { ...contestant, server }
  })
  try {
    return await Promise.all(starts)
  } catch (error) {
    for (const start of await Promise.allSettled(starts)) {
      if (start.status === 'fulfilled') await start.value.server.stop()
    }
    throw error
  }
}
