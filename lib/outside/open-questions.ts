// Outside: strangers who make up keys, so that each of them is a question to the application.

/** A question that is open. */
export interface OpenQuestion<T> {
  readonly key: string
  /** Undefined while the question is being asked. */
  answer: Promise<T> | undefined
  /** Whether its answer has to be asked for anew. */
  isForgotten: boolean
}

/** The questions that are open, by key: each is asked once, and only so many at one time. */
export class OpenQuestions<T> {
  readonly #most: number
  readonly #all = new Set<OpenQuestion<T>>()
  readonly #byKey = new Map<string, OpenQuestion<T>>()

  constructor(most: number) {
    this.#most = most
  }

  get isFull(): boolean {
    return this.#all.size >= this.#most
  }

  get(key: string): Promise<T> | undefined {
    return this.#byKey.get(key)?.answer
  }

  /** It counts until its end. */
  begin(key: string): OpenQuestion<T> {
    const question = { key, answer: undefined, isForgotten: false }
    this.#all.add(question)
    this.#byKey.set(key, question)
    return question
  }

  end(question: OpenQuestion<T>): void {
    this.#all.delete(question)
    if (this.#byKey.get(question.key) === question) this.#byKey.delete(question.key)
  }

  /** What is asked from now on is asked anew. The questions that are open count on. */
  forget(fits: (key: string) => boolean): void {
    for (const question of this.#all) {
      if (!fits(question.key)) continue
      question.isForgotten = true
      this.#byKey.delete(question.key)
    }
  }
}
