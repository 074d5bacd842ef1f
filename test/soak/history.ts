/** Milliseconds on the clock of the soak, from one time to another. */
export interface Span {
  readonly from: number
  readonly until: number
}

/** A value, and when it may have been that of a process. */
export interface Held<T> extends Span {
  readonly value: T
}

/** Milliseconds. What is older decides nothing any more. */
const KEPT_FOR = 120_000

/** Whether two spans have a moment in common. */
export function meet(one: Span, other: Span): boolean {
  return one.from <= other.until && other.from <= one.until
}

/**
 * What something was, one value after another. A change takes time: while it is on its way, both
 * values may hold.
 */
export class History<T> {
  #held: { value: T; from: number; until: number }[]

  constructor(value: T, from = Number.NEGATIVE_INFINITY) {
    this.#held = [{ value, from, until: Number.POSITIVE_INFINITY }]
  }

  /** Returns a function that ends the values before, from a time on. */
  change(value: T, from = performance.now()): (at?: number) => void {
    const held = { value, from, until: Number.POSITIVE_INFINITY }
    this.#held = this.#held.filter(({ until }) => until > from - KEPT_FOR)
    this.#held.push(held)
    return (at = performance.now()) => {
      const before = this.#held.slice(0, this.#held.indexOf(held))
      for (const one of before) one.until = Math.min(one.until, at)
    }
  }

  get latest(): T {
    const last = this.#held.at(-1)
    if (last === undefined) throw new Error('a history is never empty')
    return last.value
  }

  /** When the latest value began. */
  get changedAt(): number {
    return this.#held.at(-1)?.from ?? Number.NEGATIVE_INFINITY
  }

  /** The values that may have held at a moment of a span. */
  during(span: Span): readonly Held<T>[] {
    return this.#held.filter((held) => meet(held, span))
  }

  all(): readonly Held<T>[] {
    return this.#held
  }
}

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
