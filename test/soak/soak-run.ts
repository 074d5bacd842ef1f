import { setTimeout as wait } from 'node:timers/promises'
import type { Applications } from './applications.ts'
import { backgroundOf } from './background.ts'
import { type Cast, TENANTS } from './cast.ts'
import type { Disturbances } from './disturbances.ts'
import type { Measurements } from './measurements.ts'
import { type Ask, allowedVerdicts, type Verdict, type Window } from './oracle.ts'
import { nextAsk } from './personas.ts'
import { Random } from './random.ts'
import type { Soaked, SoakOptions } from './soak.ts'
import { Tally } from './tally.ts'
import { verdictOf } from './verdict-of.ts'
import type { World } from './world.ts'

/** Milliseconds between two looks at what is due. */
const TICK = 20

/** Milliseconds between an answer and its judgement: by then all that bears on it is known. */
const JUDGED_AFTER = 3000

/** Most requests that are open, and that are sent at one tick. */
const MOST_OPEN = 150

/** Milliseconds between two reports. */
const MINUTE = 60_000

/** Users at the begin. */
const FIRST_USERS = 18

/** What a run needs. */
export interface Parts {
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
export class SoakRun implements Soaked {
  readonly tally: Tally
  readonly troubles: string[] = []
  readonly measurements: Measurements
  readonly #options: SoakOptions
  readonly #the: Parts
  readonly #random: Random
  /** In the order in which they came. */
  #answered: Answered[] = []
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
        while ((await process.ask('/me', headers)).status === 503) {
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
    const { applications, cast, world } = this.#the
    const { ask, path, headers } = nextAsk(cast, world.processes.length, this.#random)
    this.#open += 1
    const [from, wallFrom] = [performance.now(), Date.now()]
    const came = await applications
      .at(ask.process)
      .ask(path, headers)
      .then(verdictOf, (error: unknown) => `no answer: ${error}`)
    const wall = { from: wallFrom, until: Date.now() }
    this.#answered.push({ ask, came, window: { from, until: performance.now(), wall } })
    this.#open -= 1
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
