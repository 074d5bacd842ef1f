import { clock } from '../runtime/clock.ts'
import type { TimeLimit } from '../runtime/timer.ts'
import { Unusable } from './failure.ts'

// Outside: servers that hang, of which a few must not hold up all others.

/**
 * The owner of a fetched document: the operator, a server whose last fetch has succeeded, or one of
 * which nothing good is known yet.
 */
export type FetchRank = 'own' | 'proved' | 'new'

/** The order in which a free place is given away. */
const RANKS: readonly FetchRank[] = ['own', 'proved', 'new']

/**
 * A fetch begins only while fewer than so many are under way. So hosts that nobody knows leave
 * places for those that work, and both for the operator's own. A host that hung last time comes
 * after all others.
 */
const ROOM = { own: 32, proved: 28, new: 24, hung: 16 } as const

/** Places that are left for hosts that have none, so that two hosts that hang stop no third one. */
const FIRSTS = 4

const MOST_OF_HOST = 16
const MOST_OF_HUNG_HOST = 2

/** Most fetches of hosts that nobody knows that wait. */
const MOST_NEW = 1000

const MOST_HUNG = 1000

interface PlacedFetch {
  readonly url: string
  readonly rank: FetchRank
  readonly limit: TimeLimit
}

interface Placed extends Omit<PlacedFetch, 'url'> {
  readonly host: string
}

interface Waiting extends Placed {
  begin(): void
  giveUp(): void
}

/** Places for fetches, and a line for each rank. */
export class FetchPlaces {
  /** Lines by host, the oldest first. The host that got a place last is the last. */
  readonly #lines: Readonly<Record<FetchRank, Map<string, Waiting[]>>> = {
    own: new Map(),
    proved: new Map(),
    new: new Map(),
  }
  #newOnes = 0
  /** The number of running fetches for each host. */
  readonly #hosts = new Map<string, number>()
  readonly #hung = new Set<string>()
  #running = 0

  /**
   * Runs `work` once it has a place. The time limit of the work stands still until then. When the
   * signal is aborted before, the work never begins.
   *
   * @throws Unusable when there was no place in time, and what `work` throws
   */
  async run<T>(work: () => Promise<T>, { url, ...rest }: PlacedFetch): Promise<T> {
    const fetch = { ...rest, host: hostOf(url) }
    if (this.#hasRoom(fetch)) this.#take(fetch)
    else await this.#turn(fetch)
    const beganAt = clock.now()
    try {
      if (fetch.limit.signal.aborted) throw noPlace()
      return await work()
    } finally {
      // A fetch that was late because another host was slow before says nothing of this host.
      const { limit } = fetch
      this.#leave(fetch, limit.isLate && clock.now() - beganAt >= limit.work / 2)
    }
  }

  #hasRoom({ host, rank }: Placed): boolean {
    const count = this.#countOf(host)
    const isHung = rank !== 'own' && this.#hung.has(host)
    if (count >= (isHung ? MOST_OF_HUNG_HOST : MOST_OF_HOST)) return false
    const others = rank === 'own' || count === 0 ? 0 : FIRSTS
    return this.#running < ROOM[isHung ? 'hung' : rank] - others
  }

  #take({ host }: Placed): void {
    this.#running += 1
    this.#hosts.set(host, this.#countOf(host) + 1)
  }

  #turn(fetch: Placed): Promise<void> {
    const { limit } = fetch
    const { signal } = limit
    return new Promise((resolve, reject) => {
      if (signal.aborted || !this.#mayWait(fetch)) throw noPlace()
      const giveUp = () => {
        signal.removeEventListener('abort', giveUp)
        this.#unqueue(waiting)
        reject(noPlace())
      }
      const begin = () => {
        signal.removeEventListener('abort', giveUp)
        limit.spend('work')
        resolve()
      }
      const waiting: Waiting = { ...fetch, begin, giveUp }
      signal.addEventListener('abort', giveUp, { once: true })
      limit.spend('wait')
      this.#queue(waiting)
    })
  }

  /** In a full line, the newest fetch of the host with most gives way to a host with fewer. */
  #mayWait({ rank, host }: Placed): boolean {
    if (rank !== 'new' || this.#newOnes < MOST_NEW) return true
    const lines = this.#lines.new
    let longest: Waiting[] = []
    for (const line of lines.values()) if (line.length > longest.length) longest = line
    if (longest.length < (lines.get(host)?.length ?? 0) + 2) return false
    longest.at(-1)?.giveUp()
    return true
  }

  #queue(waiting: Waiting): void {
    const { rank, host } = waiting
    const line = this.#lines[rank].get(host) ?? []
    line.push(waiting)
    this.#lines[rank].set(host, line)
    if (rank === 'new') this.#newOnes += 1
  }

  #unqueue(waiting: Waiting): void {
    const { rank, host } = waiting
    const line = this.#lines[rank].get(host) ?? []
    line.splice(line.indexOf(waiting), 1)
    this.#lines[rank].delete(host)
    if (line.length > 0) this.#lines[rank].set(host, line)
    if (rank === 'new') this.#newOnes -= 1
  }

  #leave({ host }: Placed, hasHung: boolean): void {
    const count = this.#countOf(host) - 1
    this.#running -= 1
    if (count > 0) this.#hosts.set(host, count)
    else this.#hosts.delete(host)
    this.#note(host, hasHung)
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      this.#unqueue(next)
      this.#take(next)
      next.begin()
    }
  }

  #note(host: string, hasHung: boolean): void {
    this.#hung.delete(host)
    if (!hasHung) return
    this.#hung.add(host)
    const [oldest] = this.#hung
    if (this.#hung.size > MOST_HUNG && oldest !== undefined) this.#hung.delete(oldest)
  }

  /** By rank; then the host with the fewest; then in turn, if anybody has room. */
  #next(): Waiting | undefined {
    for (const rank of RANKS) {
      // There is no room for lower ranks either.
      if (this.#running >= ROOM[rank]) break
      let best: Waiting | undefined
      for (const [oldest] of this.#lines[rank].values()) {
        if (oldest === undefined || !this.#hasRoom(oldest)) continue
        if (best === undefined || this.#countOf(oldest.host) < this.#countOf(best.host)) {
          best = oldest
        }
      }
      if (best !== undefined) return best
    }
    return undefined
  }

  #countOf(host: string): number {
    return this.#hosts.get(host) ?? 0
  }
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url
}

/** Reason of a fetch that never began. It says nothing of the host. */
export const NO_PLACE = 'too many other fetches were under way'

function noPlace(): Unusable {
  return new Unusable(NO_PLACE)
}
