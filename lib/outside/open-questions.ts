// Outside: strangers who make up keys, so that each of them is a question to the application.

/** The questions that are open, by key: each is asked once, and only so many at one time. */
export class OpenQuestions<T> {
  readonly #most: number
  readonly #answers = new Map<string, Promise<T>>()

  constructor(most: number) {
    this.#most = most
  }

  get isFull(): boolean {
    return this.#answers.size >= this.#most
  }

  get(key: string): Promise<T> | undefined {
    return this.#answers.get(key)
  }

  /** @returns the answer, which counts as open until it has come */
  add(key: string, coming: Promise<T>): Promise<T> {
    const answer = coming.finally(() => {
      if (this.#answers.get(key) === answer) this.#answers.delete(key)
    })
    this.#answers.set(key, answer)
    return answer
  }

  /** What is asked from now on is asked anew. */
  clear(): void {
    this.#answers.clear()
  }
}
