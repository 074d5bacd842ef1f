// Outside: addresses that a customer has chosen, which may lead into the operator's own network.

import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { badStatus, FetchFailure, noAnswer } from './fetch-failure.ts'
import { lookUp } from './look-up.ts'

/** Whether an IP address may be connected to. */
export type AddressRule = (address: string) => boolean

export interface JudgedRequest {
  readonly headers: Readonly<Record<string, string>>
  /** Ends the whole exchange, body included. */
  readonly signal: AbortSignal
  readonly isAllowed: AddressRule
}

/**
 * The body of an answer of status 200 from a host whose addresses are all allowed. Node's fetch
 * has no look-up of its own, and a look-up before it proves nothing: the name may lead elsewhere a
 * moment later. No redirect is followed, and no proxy used, since either would look up by itself.
 *
 * @throws FetchFailure
 */
export async function judgedRequest(
  url: string,
  request: JudgedRequest,
): Promise<AsyncIterable<Uint8Array>> {
  const answer = await send(url, request).catch((error: unknown) => {
    throw noAnswer(error, request.signal)
  })
  const failure = flawOf(answer)
  if (failure === undefined) return answer
  answer.destroy()
  throw failure
}

function flawOf({ statusCode = 0, headers }: IncomingMessage): FetchFailure | undefined {
  if (statusCode !== 200) return badStatus(statusCode)
  const { 'content-encoding': encoding = 'identity' } = headers
  if (encoding !== 'identity') return new FetchFailure('the answer is encoded, unasked')
  return undefined
}

function send(address: string, request: JudgedRequest): Promise<IncomingMessage> {
  const { isAllowed, signal } = request
  return new Promise((resolve, reject) => {
    const url = new URL(address)
    // A literal is never looked up.
    const host = url.hostname.replace(/^\[|\]$/g, '')
    if (isIP(host) !== 0 && !isAllowed(host)) throw notPublic()
    const connecting = { keepAlive: false, autoSelectFamily: true, lookup: lookup(request) }
    const headers = { ...request.headers, 'accept-encoding': 'identity' }
    // An agent of its own: that of the process may use a proxy, or keep connections of others.
    const sent =
      url.protocol === 'https:'
        ? https.request(url, { agent: new https.Agent(connecting), headers, signal })
        : http.request(url, { agent: new http.Agent(connecting), headers, signal })
    sent.on('response', resolve)
    sent.on('error', reject)
    // A server that switches protocols ends it without a word.
    sent.on('close', () => reject(new FetchFailure('no answer')))
    sent.end()
  })
}

/** The connection's own look-up: what it gives is what is connected to. */
function lookup({ isAllowed, signal }: JudgedRequest): LookupFunction {
  return (hostname, _options, callback) => {
    lookUp(hostname, signal).then(
      (addresses) => {
        const areAllowed = addresses.length > 0 && addresses.every((one) => isAllowed(one.address))
        if (areAllowed) callback(null, addresses)
        else callback(notPublic(), [])
      },
      (error) => callback(error, []),
    )
  }
}

function notPublic(): FetchFailure {
  return new FetchFailure('the address is not public')
}
