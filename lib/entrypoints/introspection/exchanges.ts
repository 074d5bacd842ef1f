import { noAnswer, Unusable } from '../../platform/http/failure.ts'
import { causeOf, readBody } from '../../platform/http/fetch-json.ts'
import { isThrown } from '../../platform/runtime/error.ts'
import { TimeLimit } from '../../platform/runtime/timer.ts'

/** Milliseconds for one whole exchange, body included. */
export const TIMEOUT = 5000

/** Most bytes of a body, counted after decompression. */
export const MAX_BYTES = 512 * 1024

interface ExchangeRequest {
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: URLSearchParams | null | undefined
}

export class Exchanges {
  readonly #limits = new Set<TimeLimit>()

  /**
   * A response whose body is here already. It took 5 seconds at most and has 512 KiB at most. No
   * redirect is followed, because the token would go wherever it leads.
   *
   * @throws OpaqueFailure
   */
  readonly fetch = async (
    url: string,
    { method, headers, body = null }: ExchangeRequest,
  ): Promise<Response> => {
    const limit = new TimeLimit({ work: TIMEOUT })
    const { signal } = limit
    this.#limits.add(limit)
    try {
      // Answers are cached, so that an idle socket is not worth outliving the service.
      const own = { ...headers, connection: 'close' }
      const sent = fetch(url, { method, body, redirect: 'manual', signal, headers: own })
      const response = await sent.catch((error: unknown) => {
        throw noAnswer(causeOf(error), signal)
      })
      const text = response.body && (await readBody(response.body, { maxBytes: MAX_BYTES, signal }))
      return new Response(text, { status: response.status, headers: response.headers })
    } catch (error) {
      throw new OpaqueFailure('ERR_INTROSPECTION_NO_ANSWER', error)
    } finally {
      limit.end()
      this.#limits.delete(limit)
    }
  }

  /** Ends the exchanges that are under way. Further ones may begin. */
  end(): void {
    for (const limit of this.#limits) limit.abort()
  }
}

const MESSAGES = {
  ERR_INTROSPECTION_NO_ANSWER: 'the server gave no whole answer',
  ERR_INTROSPECTION_ANSWER: 'the server gave no usable answer',
  ERR_INTROSPECTION_BUSY: 'the endpoint answers nobody now (403 or 429)',
  ERR_INTROSPECTION_METADATA: 'the metadata of the issuer cannot be used',
  ERR_INTROSPECTION_CREDENTIALS: 'the endpoint refuses the credentials of this client',
  ERR_INTROSPECTION_ALL_ACTIVE: 'the endpoint calls a random token active',
} as const

type OpaqueFailureCode = keyof typeof MESSAGES

/**
 * A token cannot be decided now. The text is made of words of ours, and there is no cause: errors of
 * fetch and of other servers may hold the token, or the secret of the client.
 */
export class OpaqueFailure extends Error {
  readonly code: OpaqueFailureCode

  /** @param reason part of the message if it is in words of ours */
  constructor(code: OpaqueFailureCode, reason?: unknown) {
    super(isThrown(reason, Unusable) ? `${MESSAGES[code]}: ${reason.message}` : MESSAGES[code])
    this.code = code
  }

  /** True: the endpoint itself is at fault, rather than the way to it, or one answer. */
  get isFault(): boolean {
    return this.refusesClient || this.code === 'ERR_INTROSPECTION_ALL_ACTIVE'
  }

  get refusesClient(): boolean {
    return this.code === 'ERR_INTROSPECTION_CREDENTIALS'
  }

  get isBusy(): boolean {
    return this.code === 'ERR_INTROSPECTION_BUSY'
  }
}

export function asOpaqueFailure(
  error: unknown,
  code: OpaqueFailureCode = 'ERR_INTROSPECTION_ANSWER',
): OpaqueFailure {
  return isThrown(error, OpaqueFailure) ? error : new OpaqueFailure(code, error)
}
