// Outside: strangers who make up keys, so that each of them is a question to the application.

import { clock } from './clock.ts'
import { attempt, type NowOrLater } from './now-or-later.ts'

/** A question that is open. */
export interface OpenQuestion {
  readonly key: string
  /** A reading of `clock`. */
  readonly askedAt: number
  /** Whether somebody has said since that its answer may have changed. */
  isForgotten: boolean
}

/** How a question is asked, and what becomes of its answer. */
export interface Asking<A, T> {
  run(): NowOrLater<A>
  done(answer: A, question: OpenQuestion): T
  failed(error: unknown): T
}

/** The questions that are open, by key: each is asked once, and only so many at one time. */
export class OpenQuestions<T> {
  readonly #most: number
  readonly #open = new Set<OpenQuestion>()
  /** Those that others may join. */
  readonly #answers = new Map<string, Promise<T>>()

  constructor(most: number) {
    this.#most = most
  }

  get isFull(): boolean {
    return this.#open.size >= this.#most
  }

  get(key: string): Promise<T> | undefined {
    return this.#answers.get(key)
  }

  /** Asks. The question counts as open until its answer has come. */
  ask<A>(key: string, { run, done, failed }: Asking<A, T>): NowOrLater<T> {
    const question: OpenQuestion = { key, askedAt: clock.now(), isForgotten: false }
    this.#open.add(question)
    const answer = attempt(
      run,
      (given) => {
        this.#end(question)
        return done(given, question)
      },
      (error) => {
        this.#end(question)
        return failed(error)
      },
    )
    if (answer instanceof Promise) this.#answers.set(key, answer)
    return answer
  }

  /** What is asked from now on is asked anew. The questions that are open count on. */
  forget(fits: (key: string) => boolean): void {
    for (const question of this.#open) {
      if (!fits(question.key)) continue
      question.isForgotten = true
      this.#answers.delete(question.key)
    }
  }

  #end(question: OpenQuestion): void {
    this.#open.delete(question)
    // Another question may have taken the place of one that is forgotten.
    if (!question.isForgotten) this.#answers.delete(question.key)
  }
}
