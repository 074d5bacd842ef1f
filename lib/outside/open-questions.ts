// Outside: strangers who make up keys, so that each of them is a question to the application.

import { clock } from './clock.ts'
import { type Keyed, KeyIndex } from './key-index.ts'
import { attempt, type NowOrLater } from './now-or-later.ts'
import { Queue, type Queued } from './queue.ts'
import { textHash } from './text-hash.ts'

/** A question that is open. */
export interface OpenQuestion {
  readonly key: string
  /** A reading of `clock`. */
  readonly askedAt: number
  /** Whether the application has said since then that the answer may have changed. */
  isForgotten: boolean
}

/** How a question is asked, and what becomes of its answer. */
export interface Asking<A, T> {
  run(): NowOrLater<A>
  done(answer: A, question: OpenQuestion): T
  failed(error: unknown, question: OpenQuestion): T
}

interface Open<T> extends OpenQuestion, Queued<Open<T>>, Keyed<Open<T>> {
  answer: Promise<T> | undefined
}

/** The questions that are open, by key: each is asked once, and only so many at one time. */
export class OpenQuestions<T> {
  readonly #most: number
  readonly #open = new Queue<Open<T>>()
  #count = 0
  /** Those whose answers later requests may wait for too. */
  readonly #joinable = new KeyIndex<Open<T>>()

  constructor(most: number) {
    this.#most = most
  }

  get isFull(): boolean {
    return this.#count >= this.#most
  }

  get(key: string): Promise<T> | undefined {
    return this.#joinable.of(key)?.answer
  }

  /** Asks. The question counts as open until its answer has come. */
  ask<A>(key: string, { run, done, failed }: Asking<A, T>): NowOrLater<T> {
    const question = opened<T>(key)
    this.#open.add(question)
    this.#count += 1
    const answer = attempt(
      run,
      (given) => {
        this.#end(question)
        return done(given, question)
      },
      (error) => {
        this.#end(question)
        return failed(error, question)
      },
    )
    // The function that is asked may itself say that answers have changed.
    if (answer instanceof Promise && !question.isForgotten) this.#letJoin(question, answer)
    return answer
  }

  /** What is asked from now on is asked anew. The questions that are open count on. */
  forget(fits: (key: string) => boolean): void {
    for (const question of this.#open) {
      if (!fits(question.key)) continue
      question.isForgotten = true
      this.#joinable.delete(question)
    }
  }

  /** The later one of two with one key. */
  #letJoin(question: Open<T>, answer: Promise<T>): void {
    const before = this.#joinable.of(question.key)
    if (before !== undefined) this.#joinable.delete(before)
    question.answer = answer
    this.#joinable.add(question)
  }

  #end(question: Open<T>): void {
    this.#open.delete(question)
    this.#count -= 1
    this.#joinable.delete(question)
  }
}

function opened<T>(key: string): Open<T> {
  const links = { answer: undefined, older: undefined, newer: undefined, next: undefined }
  return { key, hash: textHash(key), askedAt: clock.now(), isForgotten: false, ...links }
}
