import type { FetchLimits } from '../outside/fetch-json.ts'

/** What an answer tells beside its document. */
export interface AnswerHead {
  readonly status: number
  readonly location: string | null
  readonly contentType: string
  /** The server's clock, in milliseconds since the epoch; NaN: it does not say. */
  readonly date: number
}

/** One question to a server, with the limits of the guard. */
export class Exchange {
  readonly limits: FetchLimits
  /** When it began, in milliseconds since the epoch. */
  readonly beganAt = Date.now()
  /** Of the last answer. */
  head: AnswerHead | undefined
  /** When that came, in milliseconds since the epoch. */
  answeredAt = Number.NaN

  /** @param seconds until it ends */
  constructor(maxBytes: number, seconds: number) {
    const signal = AbortSignal.timeout(seconds * 1000)
    this.limits = { maxBytes, signal, onAnswer: (answer) => this.#take(answer) }
  }

  #take({ status, headers }: Pick<Response, 'status' | 'headers'>): void {
    this.answeredAt = Date.now()
    this.head = {
      status,
      location: headers.get('location'),
      contentType: headers.get('content-type') ?? '',
      // A cache says how old its copy is (RFC 9111 §5.1).
      date: Date.parse(headers.get('date') ?? '') + Number(headers.get('age') ?? 0) * 1000,
    }
  }
}
