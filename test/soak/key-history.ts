import type { Outages } from './history.ts'
import { type Held, History, type Span } from './history.ts'
import { KEYS_RECOVERY, ON_THE_WAY, TIMES } from './settings.ts'

/** Milliseconds from which the contract lets a key set serve no more. */
const LAST_AGE = (TIMES.keysMaxAge + TIMES.keysMaxStale) * 1000

/** Seconds from the end of an answer until the keys in it count. */
const IN_USE = 0.25

/** Names of keys. */
export type Kids = ReadonlySet<string>

/** A set that was served, and when it was received; Infinity: perhaps never. */
interface Served {
  readonly kids: Kids
  receivedAt: number
}

/** What the key server of an issuer has served to one process. */
export class KeyHistory {
  readonly #served = new History<Served>({ kids: new Set(), receivedAt: 0 }, performance.now())
  readonly #outages: Outages
  #settle: (at?: number) => void = () => {}

  constructor(outages: Outages) {
    this.#outages = outages
  }

  serve(kids: Kids): void {
    this.#settle = this.#served.change({ kids, receivedAt: Number.POSITIVE_INFINITY })
  }

  /** The process has what was served last. Where that took long, it may have given up before. */
  receive(): void {
    const now = performance.now()
    const { latest, changedAt } = this.#served
    if (now - changedAt > (TIMES.keysTimeout - ON_THE_WAY) * 1000) return
    latest.receivedAt = Math.min(latest.receivedAt, now)
    this.#settle(now + IN_USE * 1000)
    this.#settle = () => {}
  }

  all(): readonly Held<Served>[] {
    return this.#served.all()
  }

  /**
   * The sets that a request of that span may have been decided by; null: no usable one.
   *
   * @param patience milliseconds by which the machine may have stalled
   */
  during({ from, until }: Span, patience: number): (Kids | null)[] {
    const served = this.#served.all().filter(({ value }) => value.kids.size > 0)
    const usable = served.filter(
      (set) =>
        set.from <= until && set.until >= from && this.#lastUse(set, patience) + patience >= from,
    )
    const isSure = served.some(
      (set) => set.value.receivedAt + IN_USE * 1000 <= from && until < set.from + LAST_AGE,
    )
    return [...usable.map(({ value }) => value.kids), ...(isSure ? [] : [null])]
  }

  /** It serves beyond `keysMaxAge` only while its server is away, and never beyond the last age. */
  #lastUse({ from, value }: Held<Served>, patience: number): number {
    const receivedBy = Math.min(value.receivedAt, from + TIMES.keysTimeout * 1000)
    const last = receivedBy + LAST_AGE
    const recovery = KEYS_RECOVERY * 1000 + patience
    for (let at = receivedBy + TIMES.keysMaxAge * 1000; at < last; at += 250) {
      if (this.#outages.wasWell(at - recovery, at)) return at + ON_THE_WAY * 1000
    }
    return last + ON_THE_WAY * 1000
  }
}
