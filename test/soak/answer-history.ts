import { type Held, History, meet, type Span } from './history.ts'
import { ON_THE_WAY, TIMES } from './settings.ts'

/** A function of the application that answers nothing usable. */
export type Fault = 'throws' | 'hangs'

/** Stands for a question that has no answer, which is 503. */
export const NO_ANSWER = Symbol('no answer')

/** What a function of the application answered in one process, by key. */
export class AnswerHistory<T> {
  readonly #byKey = new Map<string, History<T>>()
  readonly #faults = new History<Fault | null>(null)
  readonly #forgotten = new Map<string, number>()
  readonly #unknown: T
  readonly #keptFor: (value: T) => number

  /**
   * @param unknown the answer about a key that has none
   * @param keptFor seconds for which the contract lets an answer count
   */
  constructor(unknown: T, keptFor: (value: T) => number) {
    this.#unknown = unknown
    this.#keptFor = keptFor
  }

  change(key: string, value: T): () => void {
    const history = this.#byKey.get(key) ?? new History(this.#unknown)
    this.#byKey.set(key, history)
    return history.change(value)
  }

  fail(fault: Fault | null): () => void {
    return this.#faults.change(fault)
  }

  /** From now on no answer of before counts. */
  forget(key: string): void {
    this.#forgotten.set(key, performance.now())
  }

  latest(key: string): T {
    return this.#byKey.get(key)?.latest ?? this.#unknown
  }

  all(key: string): readonly Held<T>[] {
    return this.#byKey.get(key)?.all() ?? []
  }

  /** Keys that have been unknown for so long that no answer about them counts. */
  sweep(age = 60_000): void {
    const before = performance.now() - age
    for (const [key, history] of this.#byKey) {
      if (history.latest !== this.#unknown || history.changedAt > before) continue
      this.#byKey.delete(key)
      this.#forgotten.delete(key)
    }
  }

  /**
   * What a request of that span may have been decided by: each answer that was given to a question
   * not too long before.
   *
   * @param most seconds for which an answer counts, where that is less than it is kept
   */
  during(
    key: string,
    { from, until }: Span,
    patience: number,
    most = Number.POSITIVE_INFINITY,
  ): (T | typeof NO_ANSWER)[] {
    const forgottenAt = this.#forgotten.get(key) ?? Number.NEGATIVE_INFINITY
    const since = forgottenAt <= from ? forgottenAt : Number.NEGATIVE_INFINITY
    const asked = (seconds: number): Span => ({
      from: Math.max(from - Math.min(seconds, most) * 1000, since),
      until,
    })
    const answers = (this.#byKey.get(key) ?? new History(this.#unknown)).all()
    const well = this.#faults.all().filter(({ value }) => value === null)
    const possible = answers.filter((answer) =>
      well.some((span) => {
        const both = {
          from: Math.max(span.from, answer.from),
          until: Math.min(span.until, answer.until),
        }
        return both.from <= both.until && meet(both, asked(this.#keptFor(answer.value)))
      }),
    )
    const isFaulty = this.mayHaveFailed({ from, until }, patience)
    return [
      ...new Set(possible.map(({ value }) => value)),
      ...(isFaulty ? ([NO_ANSWER] as const) : []),
    ]
  }

  /** Whether a question of that span, or of so many milliseconds before, may have no answer. */
  mayHaveFailed({ from, until }: Span, before: number): boolean {
    // A request joins the question that is open.
    const open = { from: from - (TIMES.tenantsTimeout + ON_THE_WAY) * 1000 - before, until }
    return this.#faults.during(open).some(({ value }) => value !== null)
  }
}
