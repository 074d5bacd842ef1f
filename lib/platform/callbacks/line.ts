import { AsyncResource } from 'node:async_hooks'
import { clock } from '../runtime/clock.ts'
import type { MaybePromise } from '../runtime/maybe-promise.ts'
import { ownCopy } from '../runtime/own-property.ts'

// Outside: strangers who make up keys, so that each of them is a question to the application.

/** Most questions that wait in one line. */
const LONGEST_LINE = 1000

/** How many questions a function is asked at once, and how many may wait for that. */
export interface LineRules {
  /** Most questions at one time. */
  readonly places: number
  /** Most questions that wait for a place. @default LONGEST_LINE */
  readonly longest?: number
  /**
   * Whose question it is. Of places and line, the questions of one share get half at most.
   * Not given: there are no shares.
   */
  shareOf?(key: string): string | null
}

/** A question that wants a place. */
interface Visit<T> {
  readonly key: string
  /** Holds its place until its answer has come. */
  run(): MaybePromise<T>
  /** Whether anybody waits for the answer still. */
  isWanted(): boolean
  /** The error of a constant reason: it was not asked. */
  refuse(reason: string): Error
}

interface Waiting {
  readonly share: string | null
  readonly timer: NodeJS.Timeout
  start(): void
  refuse(reason: string): void
}

/** How many questions of one share hold a place, and how many wait. */
interface Counts {
  running: number
  waiting: number
}

/**
 * Places for questions, and a line of those that wait for one: first come, first served. Who waits
 * too long is refused. The time for an answer starts with the place.
 */
export class Line {
  readonly #rules: LineRules
  /** Milliseconds. */
  readonly #patience: number
  readonly #longest: number
  /** The oldest first. */
  readonly #waiting = new Set<Waiting>()
  readonly #shares = new Map<string | null, Counts>()
  #running = 0
  #isMovingUp = false

  /** @param patience seconds that a question waits for its place */
  constructor(rules: LineRules, patience: number) {
    this.#rules = ownCopy(rules)
    this.#patience = patience * 1000
    this.#longest = this.#rules.longest ?? LONGEST_LINE
  }

  /**
   * Runs a question at once where a place is free, otherwise as soon as one is.
   *
   * @throws what the visit refuses with, where the line is full
   */
  enter<T>(visit: Visit<T>): MaybePromise<T> {
    const share = this.#rules.shareOf?.(visit.key) ?? null
    if (this.#hasPlaceFor(share)) return this.#run(share, () => visit.run())
    if (!this.#hasRoomFor(share)) throw visit.refuse('was not asked: its line is full')
    return this.#wait(share, visit)
  }

  /** All that wait are refused, and never asked. */
  end(reason: string): void {
    for (const waiting of this.#waiting) waiting.refuse(reason)
  }

  #hasPlaceFor(share: string | null): boolean {
    const { places } = this.#rules
    if (this.#running >= places) return false
    return share === null || this.#countsOf(share).running < half(places)
  }

  #hasRoomFor(share: string | null): boolean {
    if (this.#waiting.size >= this.#longest) return false
    return share === null || this.#countsOf(share).waiting < half(this.#longest)
  }

  #wait<T>(share: string | null, { run, isWanted, refuse }: Visit<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const leave = () => {
        clearTimeout(waiting.timer)
        this.#waiting.delete(waiting)
        this.#count(share, 'waiting', -1)
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
        share,
        // Not unref'd: a request waits for it.
        timer: setTimeout(() => refused('was not asked: no place in time'), this.#patience),
        start: () => {
          if (!isWanted()) return refused('was not asked: nobody waits for it')
          leave()
          ask()
        },
        refuse: refused,
      }
      this.#waiting.add(waiting)
      this.#count(share, 'waiting', 1)
    })
  }

  #run<T>(share: string | null, run: () => MaybePromise<T>): MaybePromise<T> {
    this.#running += 1
    this.#count(share, 'running', 1)
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

  #leave(share: string | null): void {
    this.#running -= 1
    this.#count(share, 'running', -1)
    this.#moveUp()
  }

  /** One loop, however many are answered at once: by recursion, a long line is too deep. */
  #moveUp(): void {
    if (this.#isMovingUp) return
    this.#isMovingUp = true
    for (const waiting of this.#waiting) {
      if (this.#running >= this.#rules.places) break
      if (this.#hasPlaceFor(waiting.share)) waiting.start()
    }
    this.#isMovingUp = false
  }

  #countsOf(share: string): Counts {
    return this.#shares.get(share) ?? { running: 0, waiting: 0 }
  }

  #count(share: string | null, what: keyof Counts, change: 1 | -1): void {
    if (share === null) return
    const counts = this.#countsOf(share)
    counts[what] += change
    if (counts.running + counts.waiting > 0) this.#shares.set(share, counts)
    else this.#shares.delete(share)
  }
}

/** Of one place, all: somebody has to get it. */
function half(number: number): number {
  return Math.max(1, Math.floor(number / 2))
}

// Outside: strangers who make up keys, beside those who have proved theirs.

const HOUR = 3_600_000

const MOST = 10_000

/** Keys that were good within the last hour; of too many, the latest. */
export class RecentKeys {
  /** Until when each was good, by `clock`; the first that were noted come first. */
  readonly #times = new Map<string, number>()
  readonly #most: number

  constructor(most = MOST) {
    this.#most = most
  }

  has(key: string): boolean {
    const time = this.#times.get(key)
    return time !== undefined && clock.now() - time < HOUR
  }

  /** @param until when it is good, by `clock` */
  note(key: string, until = clock.now()): void {
    this.#times.delete(key)
    this.#times.set(key, until)
    if (this.#times.size <= this.#most) return
    const [oldest] = this.#times.keys()
    if (oldest !== undefined) this.#times.delete(oldest)
  }

  /** It is good no more. */
  delete(key: string): void {
    this.#times.delete(key)
  }
}
