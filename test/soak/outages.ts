import type { Span } from './history.ts'

/** An outage: from the moment before the server went until the one after it was back. */
interface Outage extends Span {
  /** The moment before it began to come back. */
  readonly returnsAt: number
}

/** When a server was away. */
export class Outages {
  #spans: { from: number; returnsAt: number; until: number }[] = []

  begin(): void {
    const from = performance.now()
    this.#spans = this.#spans.slice(-20)
    const never = Number.POSITIVE_INFINITY
    this.#spans.push({ from, returnsAt: never, until: never })
  }

  /** From now on it may be there for some, and for others not yet. */
  beginReturn(): void {
    const last = this.#spans.at(-1)
    if (last?.until === Number.POSITIVE_INFINITY) last.returnsAt = performance.now()
  }

  end(): void {
    const last = this.#spans.at(-1)
    if (last?.until === Number.POSITIVE_INFINITY) last.until = performance.now()
  }

  get isAway(): boolean {
    return this.#spans.at(-1)?.until === Number.POSITIVE_INFINITY
  }

  /** Whether it was well at each moment. */
  wasWell(from: number, until: number): boolean {
    return this.#spans.every((span) => span.until < from || span.from > until)
  }

  all(): readonly Outage[] {
    return this.#spans
  }
}
