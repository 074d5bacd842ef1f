import { AsyncResource } from 'node:async_hooks'
import { clock } from '../runtime/clock.ts'
import type { MaybePromise } from '../runtime/maybe-promise.ts'
import { ownCopy } from '../runtime/own-property.ts'

// Outside: strangers who make up keys, so that each of them is a question to the application.

/** Most questions that wait in one line. */
const LONGEST_LINE = 1000

const FULL = 'was not asked: its line is full'

/** The bounds of the questions to a function. */
export interface LineRules {
  readonly places: number
  /** Most questions that wait for a place. @default LONGEST_LINE */
  readonly longest?: number
  /**
   * Whose question it is. Of the places, the questions of one share get half at most: a question
   * that was put cannot be taken back. Not given: there are no shares.
   */
  shareOf?(key: string): string
}

/** A question that wants a place, and holds it until its answer has come. */
interface Visit<T> {
  readonly key: string
  run(): MaybePromise<T>
  isWanted(): boolean
  /** The error of a constant reason: it was not asked. */
  refuse(reason: string): Error
}

interface Waiting {
  start(): void
  refuse(reason: string): void
}

interface Share {
  readonly name: string
  running: number
  /** The oldest first. */
  readonly waiting: Waiting[]
}

/**
 * Places for questions, and a line of those that wait for one. In a share, first come is first
 * served; between shares, the one that has least. Who waits too long is refused. The time for an
 * answer starts with the place.
 */
export class Line {
  readonly #rules: LineRules
  /** Milliseconds. */
  readonly #patience: number
  readonly #longest: number
  /** The shares that have questions. The one that got or left a place last is the last. */
  readonly #shares = new Map<string, Share>()
  #running = 0
  #waiting = 0
  #isMovingUp = false

  /** @param patience seconds that a question waits for its place */
  constructor(rules: LineRules, patience: number) {
    this.#rules = ownCopy(rules)
    this.#patience = patience * 1000
    this.#longest = this.#rules.longest ?? LONGEST_LINE
  }

  /**
   * Runs a question at once if a place is free, otherwise as soon as one is.
   *
   * @throws what the visit refuses with, if the line is full
   */
  enter<T>(visit: Visit<T>): MaybePromise<T> {
    const name = this.#rules.shareOf?.(visit.key) ?? ''
    const share = this.#shares.get(name) ?? { name, running: 0, waiting: [] }
    if (this.#hasPlaceFor(share)) return this.#run(share, () => visit.run())
    if (!this.#hasRoomFor(share)) throw visit.refuse(FULL)
    return this.#wait(share, visit)
  }

  /** Refuses all that wait. They are never asked. */
  end(reason: string): void {
    for (const { waiting } of this.#shares.values()) {
      for (const one of [...waiting]) one.refuse(reason)
    }
  }

  #hasPlaceFor({ running }: Share): boolean {
    const { places, shareOf } = this.#rules
    return this.#running < places && running < (shareOf === undefined ? places : half(places))
  }

  /**
   * In a full line, the newest question of the share with most gives way to one of a share with
   * fewer, the new question counted.
   */
  #hasRoomFor(share: Share): boolean {
    if (this.#waiting < this.#longest) return true
    let most = share
    for (const other of this.#shares.values()) {
      if (other.waiting.length > most.waiting.length) most = other
    }
    if (most.waiting.length <= share.waiting.length + 1) return false
    most.waiting.at(-1)?.refuse(FULL)
    return true
  }

  #wait<T>(share: Share, { run, isWanted, refuse }: Visit<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer)
        share.waiting.splice(share.waiting.indexOf(waiting), 1)
        this.#waiting -= 1
        this.#settle(share)
      }
      const refused = (reason: string) => {
        leave()
        reject(refuse(reason))
      }
      // The function runs for the one who asks, and not for the one whose place becomes free.
      const ask = AsyncResource.bind(() => {
        try {
          resolve(this.#run(share, run))
        } catch (error) {
          reject(error)
        }
      })
      const waiting: Waiting = {
        start: () => {
          if (!isWanted()) return refused('was not asked: nobody waits for it')
          leave()
          ask()
        },
        refuse: refused,
      }
      // Not unref'd: a request waits for it.
      const timer = setTimeout(() => refused('was not asked: no place in time'), this.#patience)
      share.waiting.push(waiting)
      this.#waiting += 1
      this.#shares.set(share.name, share)
    })
  }

  #run<T>(share: Share, run: () => MaybePromise<T>): MaybePromise<T> {
    this.#running += 1
    share.running += 1
    this.#settle(share)
    let answer: MaybePromise<T>
    try {
      answer = run()
    } catch (error) {
      this.#leave(share)
      throw error
    }
    if (!(answer instanceof Promise)) {
      this.#leave(share)
      return answer
    }
    return answer.finally(() => this.#leave(share))
  }

  #leave(share: Share): void {
    this.#running -= 1
    share.running -= 1
    this.#settle(share)
    this.#moveUp()
  }

  #settle(share: Share): void {
    this.#shares.delete(share.name)
    if (share.running + share.waiting.length > 0) this.#shares.set(share.name, share)
  }

  /** One loop, however many are answered at once: by recursion, a long line is too deep. */
  #moveUp(): void {
    if (this.#isMovingUp) return
    this.#isMovingUp = true
    for (let next = this.#next(); next !== undefined; next = this.#next()) next.start()
    this.#isMovingUp = false
  }

  /** The oldest question of the share that has fewest places; of several, in turn. */
  #next(): Waiting | undefined {
    let best: Share | undefined
    for (const share of this.#shares.values()) {
      if (share.waiting.length === 0 || !this.#hasPlaceFor(share)) continue
      if (best === undefined || share.running < best.running) best = share
    }
    return best?.waiting[0]
  }
}

/** At least one: somebody has to get the only place. */
function half(number: number): number {
  return Math.max(1, Math.floor(number / 2))
}

// Outside: strangers who make up keys, beside those who have proved theirs.

const HOUR = 3_600_000

const MOST = 10_000

/** Keys that were good within the last hour. The share that has most loses its oldest. */
export class RecentKeys {
  readonly #keys = new Map<string, { readonly until: number; readonly share: string }>()
  /** The keys of each share. The first that were noted come first. */
  readonly #shares = new Map<string, Set<string>>()
  readonly #most: number

  constructor(most = MOST) {
    this.#most = most
  }

  has(key: string): boolean {
    const known = this.#keys.get(key)
    return known !== undefined && clock.now() - known.until < HOUR
  }

  shareOf(key: string): string {
    return this.#keys.get(key)?.share ?? ''
  }

  /**
   * @param until when it is good, by `clock`
   * @param share whose it is
   */
  note(key: string, until = clock.now(), share = ''): void {
    this.delete(key)
    this.#keys.set(key, { until, share })
    this.#shares.set(share, (this.#shares.get(share) ?? new Set()).add(key))
    if (this.#keys.size <= this.#most) return
    let largest = new Set<string>()
    for (const keys of this.#shares.values()) if (keys.size > largest.size) largest = keys
    const [oldest] = largest
    if (oldest !== undefined) this.delete(oldest)
  }

  delete(key: string): void {
    const share = this.shareOf(key)
    const keys = this.#shares.get(share)
    keys?.delete(key)
    if (keys?.size === 0) this.#shares.delete(share)
    this.#keys.delete(key)
  }
}
