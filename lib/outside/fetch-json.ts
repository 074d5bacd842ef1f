// Outside: other servers, which may redirect, send too much, break off, or send what is no JSON.

import { errorCode } from './error-code.ts'
import { Unusable } from './unusable.ts'

/** Why a document could not be had. */
export class FetchFailure extends Unusable {}

/** JSON between systems is UTF-8 (RFC 8259 §8.1), so that text in another encoding is none. */
const NOT_JSON = 'the answer is not JSON'

export interface FetchLimits {
  /** Most bytes of the body that are read, counted after decompression. */
  readonly maxBytes: number
  /** Ends the whole exchange, body included. */
  readonly signal: AbortSignal
}

/**
 * Reads one JSON document over HTTP, as `fetchText` does.
 *
 * @throws FetchFailure
 */
export async function fetchJson(url: string, limits: FetchLimits): Promise<unknown> {
  const text = await fetchText(url, limits)
  try {
    return JSON.parse(text)
  } catch {
    throw new FetchFailure(NOT_JSON)
  }
}

/**
 * Reads one document in UTF-8 over HTTP: status 200 only, no redirect followed (the address is
 * configured, and nobody else may choose it), the body read as a stream up to `maxBytes`.
 *
 * @throws FetchFailure
 */
export async function fetchText(url: string, limits: FetchLimits): Promise<string> {
  const response = await request(url, limits.signal)
  if (response.status !== 200 || response.body === null) {
    await response.body?.cancel().catch(() => {})
    throw new FetchFailure(`answered with status ${response.status}`)
  }
  return decode(await readBody(response.body, limits))
}

async function request(url: string, signal: AbortSignal): Promise<Response> {
  try {
    return await fetch(url, {
      redirect: 'manual',
      signal,
      // One exchange in minutes is not worth an idle socket that outlives `close()`.
      headers: {
        accept: 'application/json, application/jwk-set+json',
        connection: 'close',
      },
    })
  } catch (error) {
    throw new FetchFailure(
      signal.aborted ? 'no answer in time' : `no answer (${errorCode(causeOf(error))})`,
    )
  }
}

/** @throws FetchFailure */
export async function readBody(
  body: ReadableStream<Uint8Array>,
  limits: FetchLimits,
): Promise<Buffer> {
  const reader = body.getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return Buffer.concat(chunks, size)
      size += value.byteLength
      if (size > limits.maxBytes) throw new FetchFailure('the answer is too large')
      chunks.push(value)
    }
  } catch (error) {
    // Not awaited: a hanging server must not hold the refusal back.
    reader.cancel().catch(() => {})
    if (error instanceof FetchFailure) throw error
    throw new FetchFailure(
      limits.signal.aborted ? 'no whole answer in time' : 'the answer broke off',
    )
  }
}

function decode(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    throw new FetchFailure(NOT_JSON)
  }
}

/** The fetch API wraps what happened into a TypeError. */
function causeOf(error: unknown): unknown {
  return error instanceof Error ? (error.cause ?? error) : error
}
