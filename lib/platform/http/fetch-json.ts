import { isTooComplex } from '../runtime/json-complexity.ts'
import { ownCopy } from '../runtime/own-property.ts'
import { badStatus, FetchFailure, noAnswer } from './failure.ts'
import { assertAnswered } from './name-look-up.ts'
import { type AddressRule, ssrfSafeRequest } from './ssrf-safe-request.ts'

// Outside: other servers, which may redirect, send too much, break off, or send other than JSON.

/** JSON between systems is UTF-8 (RFC 8259 §8.1), so that text in another encoding is none. */
const NOT_JSON = 'the answer is not JSON'

export interface FetchLimits {
  /** Most bytes of the body that are read, counted after decompression. */
  readonly maxBytes: number
  /** Ends the whole exchange, body included. */
  readonly signal: AbortSignal
  /** Runs each exchange when it has a place; without it all begin at once. */
  readonly turn?: (<T>(url: string, work: () => Promise<T>) => Promise<T>) | undefined
  /** The IP addresses that may be connected to; without it any may, and Node's fetch is used. */
  readonly isAllowed?: AddressRule | undefined
  /** True: the host is a customer's, whose name servers may be silent. Default: no. */
  readonly isOfOthers?: boolean | undefined
  /** Called with each answer of Node's fetch, good or bad, before its body is read. */
  readonly onAnswer?: ((answer: Pick<Response, 'status' | 'headers'>) => void) | undefined
}

const HEADERS = {
  accept: 'application/json, application/jwk-set+json',
  // One exchange in minutes is not worth an idle socket that outlives `close()`.
  connection: 'close',
}

/**
 * Most lists, objects and members of a document. Structure costs more than length: a server could
 * block the process for 50 ms with half a megabyte of brackets.
 */
const MOST_MARKS = 20_000

export async function fetchJson(url: string, limits: FetchLimits): Promise<unknown> {
  const text = await fetchText(url, limits)
  if (isTooComplex(text, MOST_MARKS)) throw new FetchFailure(NOT_JSON)
  try {
    return JSON.parse(text)
  } catch {
    throw new FetchFailure(NOT_JSON)
  }
}

/**
 * Reads one document in UTF-8 over HTTP: status 200 only, of any Content-Type, no redirect followed
 * (the address is configured, and nobody else may choose it), the body read as a stream up to
 * `maxBytes`.
 *
 * @throws FetchFailure
 */
export async function fetchText(url: string, limits: FetchLimits): Promise<string> {
  const own = ownCopy(limits)
  const { isAllowed, signal, turn } = own
  const exchange = async () => {
    const body = isAllowed
      ? await ssrfSafeRequest(url, { headers: HEADERS, signal, isAllowed })
      : await request(url, own)
    return readBody(body, own)
  }
  return decode(await (turn ? turn(url, exchange) : exchange()))
}

async function request(
  url: string,
  { signal, isOfOthers, onAnswer }: FetchLimits,
): Promise<AsyncIterable<Uint8Array>> {
  const send = async () => {
    if (isOfOthers) await assertAnswered(url, signal)
    return fetch(url, { redirect: 'manual', signal, headers: HEADERS })
  }
  const response = await send().catch((error: unknown) => {
    throw noAnswer(causeOf(error), signal)
  })
  onAnswer?.(response)
  if (response.status === 200 && response.body !== null) return response.body
  await response.body?.cancel().catch(() => {})
  throw badStatus(response.status)
}

/** Each costs a turn of the event loop. Servers that mean well send a KiB at a time, or more. */
const MOST_PIECES = 4000

export async function readBody(
  body: AsyncIterable<Uint8Array>,
  limits: FetchLimits,
): Promise<Buffer> {
  const pieces = body[Symbol.asyncIterator]()
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for (;;) {
      const { done, value } = await pieces.next()
      if (done) return Buffer.concat(chunks, size)
      size += value.byteLength
      if (size > limits.maxBytes) throw new FetchFailure('the answer is too large')
      const isCrumbled = chunks.length === MOST_PIECES
      if (isCrumbled) throw new FetchFailure('the answer comes in too many pieces')
      chunks.push(value)
    }
  } catch (error) {
    // Not awaited: a hanging server must not hold the refusal back.
    pieces.return?.().catch(() => {})
    if (error instanceof FetchFailure) throw error
    const isLate = limits.signal.aborted
    throw new FetchFailure(isLate ? 'no whole answer in time' : 'the answer broke off')
  }
}

function decode(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    throw new FetchFailure(NOT_JSON)
  }
}

/** The fetch API wraps the error into a TypeError. */
export function causeOf(error: unknown): unknown {
  try {
    return Object(error).cause ?? error
  } catch {
    return error
  }
}
