import { setTimeout as wait } from 'node:timers/promises'
import { RedisServer } from '../helpers/servers/redis-server.ts'
import { Applications } from './applications.ts'
import { backgroundOf } from './background.ts'
import { Cast, TENANTS } from './cast.ts'
import { Disturbances } from './disturbances.ts'
import { Issuer } from './issuer.ts'
import { Measurements } from './measurements.ts'
import { type Ask, allowedVerdicts, type Verdict, type Window } from './oracle.ts'
import { nextAsk, type Sent } from './personas.ts'
import { Random } from './random.ts'
import type { Entry } from './revocations.ts'
import { LOGOUT_ROUTE } from './routes.ts'
import { watchStalls } from './stalls.ts'
import { Tally, type Wrong } from './tally.ts'
import { verdictOf } from './verdict-of.ts'
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
  /** Whether it may end with the first wrong verdict. */
  readonly endsWithWrong?: boolean
  /** Receives each of the first wrong verdicts as it is judged. */
  readonly onWrong?: (wrong: Wrong) => void
  /** Receives the progress, at times. */
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

/** Runs the applications and a real server of Redis, disturbs them, and judges each answer. */
export async function soak(options: SoakOptions): Promise<Soaked> {
  const { seed, lib, pace, processes } = options
  const world = new World(processes)
  const issuers = [
    new Issuer('everybody', 'ES256', '*', world),
    new Issuer('acme', 'EdDSA', ['acme', 'acme-test'], world),
    new Issuer('globex', 'ES384', ['globex'], world),
  ]
  for (const issuer of issuers) await issuer.listen()
  const store = await RedisServer.open(true)
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

/** Milliseconds between two looks at what is due. */
const TICK = 20

/** Milliseconds between an answer and its judgement: by then all that bears on it is known. */
const JUDGED_AFTER = 3000

/** Most requests that are open, and that are sent at one tick. */
const MOST_OPEN = 150

/** Milliseconds between two reports. */
const MINUTE = 60_000

/** Requests with a proof that was taken, of the last ones. */
const MOST_PROVED = 50

/** Users at the begin. */
const FIRST_USERS = 18

/** What a run needs. */
interface Parts {
  readonly world: World
  readonly applications: Applications
  readonly cast: Cast
  readonly disturbances: Disturbances
  readonly measurements: Measurements
}

interface Answered {
  readonly ask: Ask
  readonly came: Verdict
  readonly window: Window
}

/** Asks, at a steady rate, and judges each answer. */
class SoakRun implements Soaked {
  readonly tally: Tally
  readonly troubles: string[] = []
  readonly measurements: Measurements
  readonly #options: SoakOptions
  readonly #the: Parts
  readonly #random: Random
  /** In the order in which they came. */
  #answered: Answered[] = []
  #proved: Sent[] = []
  #open = 0
  #beganAt = 0

  constructor(options: SoakOptions, parts: Parts) {
    this.#options = options
    this.tally = new Tally(options.onWrong)
    this.#the = parts
    this.#random = Random.of(options.seed, 'requests')
    this.measurements = parts.measurements
  }

  get happened(): ReadonlyMap<string, number> {
    return this.#the.disturbances.counts
  }

  get longestStall(): number {
    return Math.max(...this.#the.world.processes.map(({ stalls }) => stalls.longest))
  }

  async run(): Promise<void> {
    const { disturbances } = this.#the
    await this.#prepare()
    disturbances.begin()
    await Promise.all([this.#askSteadily(), this.#measureAtTimes()])
    await disturbances.end()
    while (this.#open > 0) await wait(TICK)
    const isNoticed = this.#options.endsWithWrong === true && this.tally.wrongCount > 0
    if (!isNoticed) await wait(JUDGED_AFTER)
    this.#judge()
  }

  /** Everything is there, and every process answers. */
  async #prepare(): Promise<void> {
    const { world, applications, disturbances } = this.#the
    for (const process of world.processes.keys()) {
      for (const tenant of TENANTS) await applications.setTenant(process, tenant, true)
    }
    for (let user = 0; user < FIRST_USERS; user++) await disturbances.recast()
    for (const process of applications.all) {
      const end = performance.now() + MINUTE
      for (const user of this.#the.cast.users) {
        const claims = this.#the.cast.claimsOf(user, this.#random)
        const { text } = user.issuer.sign({
          ...claims,
          iat: claims.iat - 60,
          exp: claims.iat + 600,
        })
        const headers = { authorization: `Bearer ${text}` }
        while ((await process.ask({ path: '/me', headers })).status === 503) {
          if (performance.now() > end) throw new Error('a process is never ready')
          await wait(TICK)
        }
      }
    }
  }

  /** The part of the soak that is over. */
  get #done(): number {
    if (this.#options.endsWithWrong === true && this.tally.wrongCount > 0) return 1
    return (performance.now() - this.#beganAt) / 1000 / this.#options.seconds
  }

  async #askSteadily(): Promise<void> {
    const { seconds, rate, onProgress } = this.#options
    this.#beganAt = performance.now()
    let reportAt = this.#beganAt + MINUTE
    let due = 0
    for (let last = performance.now(); this.#done < 1; ) {
      await wait(TICK)
      const now = performance.now()
      due = Math.min(due + ((now - last) / 1000) * rate, MOST_OPEN)
      last = now
      for (; due >= 1 && this.#open < MOST_OPEN; due--) void this.#askOnce()
      this.#judge()
      if (now < reportAt || this.#done >= 1) continue
      reportAt += MINUTE
      this.#the.world.sweep()
      onProgress?.(this, (this.#done * seconds) / 60)
    }
  }

  async #measureAtTimes(): Promise<void> {
    const every = Math.max(2, this.#options.seconds / 80) * 1000
    while (this.#done < 1) {
      await this.measurements.take(this.#done)
      await wait(every)
    }
  }

  async #askOnce(): Promise<void> {
    const { applications, world } = this.#the
    const sent = this.#next()
    const { ask } = sent
    this.#open += 1
    const entry = loggedOut(ask)
    const added = entry && world.revocations.begin(entry, ask.process)
    const [from, wallFrom] = [performance.now(), Date.now()]
    const came = await applications
      .at(ask.process)
      .ask(sent)
      .then(
        (answer) => verdictOf(ask, answer),
        (error: unknown) => `no answer: ${error}`,
      )
    const wall = { from: wallFrom, until: Date.now() }
    this.#answered.push({ ask, came, window: { from, until: performance.now(), wall } })
    this.#open -= 1
    const isTaken = came.startsWith('200')
    // One that was not kept may count, and need not.
    if (added !== undefined && isTaken) world.revocations.end(added, true)
    if (ask.proof === null || !isTaken) return
    this.#proved = [...this.#proved.slice(1 - MOST_PROVED), sent]
  }

  /** Mostly a new request, and sometimes one with a proof that was sent before. */
  #next(): Sent {
    const sent = nextAsk(this.#the.cast, this.#the.world, this.#random)
    if (this.#proved.length === 0 || !this.#random.chance(0.02)) return sent
    const { ask, ...others } = this.#random.pick(this.#proved)
    const proof = ask.proof && { ...ask.proof, isTaken: true }
    return { ...others, ask: { ...ask, persona: 'replayed proof', proof } }
  }

  #judge(): void {
    const before = performance.now() - JUDGED_AFTER
    const next = this.#answered.findIndex(({ window }) => window.until > before)
    const ripe = this.#answered.splice(0, next === -1 ? this.#answered.length : next)
    for (const { ask, came, window } of ripe) {
      const allowed = allowedVerdicts(ask, this.#the.world, window)
      const at = (window.from - this.#beganAt) / 1000
      this.tally.note({ ask, came, allowed, at }, () => backgroundOf(ask, this.#the.world, window))
    }
  }
}

/** What an application must note if it takes a request for a logout. */
function loggedOut({ route, token }: Ask): Entry | undefined {
  if (route !== LOGOUT_ROUTE || token?.kind !== 'jwt' || !token.isGenuine) return undefined
  const { sid, iss } = token.claims
  return { sid, issuer: iss }
}
