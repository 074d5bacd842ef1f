/** Milliseconds between two looks. */
const EVERY = 50

/** Milliseconds that count as a stall. The windows of the oracle hold less. */
const LEAST = 200

/** Milliseconds for which a stall is remembered. */
const KEPT_FOR = 20_000

/** When a process, or the machine, stood still for a while. */
export class Stalls {
  #seen: { readonly at: number; readonly length: number }[] = []
  #longest = 0

  note(length: number): void {
    const at = performance.now()
    this.#longest = Math.max(this.#longest, length)
    this.#seen = this.#seen.filter((stall) => stall.at > at - KEPT_FOR)
    this.#seen.push({ at, length })
  }

  /** Milliseconds by which what was due before a time may be late: one stall may follow another. */
  before(time: number): number {
    return this.#seen
      .filter(({ at, length }) => at - length <= time && at > time - KEPT_FOR)
      .reduce((sum, { length }) => sum + length, 0)
  }

  get longest(): number {
    return this.#longest
  }
}

/** Reports each stall of this process. Returns what ends that. */
export function watchStalls(report: (length: number) => void): () => void {
  let dueAt = performance.now() + EVERY
  const timer = setInterval(() => {
    const late = performance.now() - dueAt
    dueAt = performance.now() + EVERY
    if (late >= LEAST) report(late)
  }, EVERY)
  timer.unref()
  return () => clearInterval(timer)
}
