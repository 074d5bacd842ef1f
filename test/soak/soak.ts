import { Applications } from './applications.ts'
import { Cast } from './cast.ts'
import { Disturbances } from './disturbances.ts'
import type { EntryStore } from './entry-store.ts'
import { Issuer } from './issuer.ts'
import { Measurements } from './measurements.ts'
import { Random } from './random.ts'
import { SoakRun } from './soak-run.ts'
import { watchStalls } from './stalls.ts'
import type { Tally, Wrong } from './tally.ts'
import { type RightsFrom, World } from './world.ts'

export interface SoakOptions {
  readonly seconds: number
  readonly seed: number
  /** Requests in a second, of all processes. */
  readonly rate: number
  /** 1: as in the long run; less: as much in a shorter time. */
  readonly pace: number
  /** The folder of the package's sources. */
  readonly lib: string
  readonly processes: readonly RightsFrom[]
  readonly openStore: () => Promise<EntryStore>
  /** Whether it may end with the first wrong verdict. */
  readonly endsWithWrong?: boolean
  /** Told each wrong verdict as it is judged, of the first ones. */
  readonly onWrong?: (wrong: Wrong) => void
  /** Told how it goes, at times. */
  readonly onProgress?: (soaked: Soaked, minutes: number) => void
}

/** What a soak has shown so far. */
export interface Soaked {
  readonly tally: Tally
  readonly measurements: Measurements
  readonly happened: ReadonlyMap<string, number>
  /** Milliseconds of the longest stall of a process. */
  readonly longestStall: number
  /** What went wrong beside the verdicts. */
  readonly troubles: readonly string[]
}

/** Runs the applications, disturbs them, and judges each answer. */
export async function soak(options: SoakOptions): Promise<Soaked> {
  const { seed, lib, pace, processes } = options
  const world = new World(processes)
  const issuers = [
    new Issuer('everybody', 'ES256', '*', world),
    new Issuer('acme', 'EdDSA', ['acme', 'acme-test'], world),
    new Issuer('globex', 'ES384', ['globex'], world),
  ]
  for (const issuer of issuers) await issuer.listen()
  const store = await options.openStore()
  const endStalls = watchStalls((length) => {
    for (const { stalls } of world.processes) stalls.note(length)
  })
  try {
    const applications = await Applications.start(world, (process) => ({
      lib,
      issuers: issuers.map((issuer) => issuer.rulesFor(process)),
      rightsFrom: processes[process] ?? 'claims',
      storeUrl: store.url,
    }))
    const cast = new Cast(issuers, Random.of(seed, 'cast'))
    const disturbances = new Disturbances({ seed, pace, world, issuers, applications, cast, store })
    const measurements = new Measurements(applications.all)
    const run = new SoakRun(options, { world, applications, cast, disturbances, measurements })
    try {
      await run.run()
    } finally {
      run.troubles.push(...(await applications.end()))
    }
    return run
  } finally {
    endStalls()
    await store.close()
    for (const issuer of issuers) await issuer.close()
  }
}
