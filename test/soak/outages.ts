import type { Span } from './history.ts'

/** When a server was away: from the moment before it went until the one after it was back. */
export class Outages {
  #spans: { from: number; until: number }[] = []

  begin(): void {
    const from = performance.now()
    this.#spans = this.#spans.slice(-20)
    this.#spans.push({ from, until: Number.POSITIVE_INFINITY })
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

  all(): readonly Span[] {
    return this.#spans
  }
}
