import { constants } from 'node:crypto'
import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { createSecureContext, DEFAULT_CIPHERS } from 'node:tls'
import { badStatus, FetchFailure, noAnswer } from './failure.ts'
import { lookUp } from './name-look-up.ts'

// Outside: addresses that a customer has chosen, which may lead into the operator's own network.

export type AddressRule = (address: string) => boolean

interface JudgedRequest {
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
export async function ssrfSafeRequest(
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
  // The names of codings are the same in any case (RFC 9110 §8.4.1); an empty list names none.
  const { 'content-encoding': encoding = '' } = headers
  if (!['', 'identity'].includes(encoding.toLowerCase())) {
    return new FetchFailure('the answer is encoded, unasked')
  }
  return undefined
}

/** That of Node's fetch. Firewalls in front of servers refuse requests without a name. */
const NAME = { 'user-agent': 'node' }

/** Most answers of class 1xx before the answer (RFC 9110 §15.2). */
const MOST_NOTICES = 10

/**
 * The rules of a handshake, without what a server alone makes costly, in one go and before any limit
 * counts: a finite-field group of 10,000 bits costs almost a second, the largest of TLS 1.3 150 ms,
 * and renegotiations have no end. Every server that is kept up has elliptic curves.
 */
function handshakeRules() {
  // The suites of TLS 1.3 alone are no list for the versions before it.
  const hasOlder = DEFAULT_CIPHERS.split(':').some((name) => !name.startsWith('TLS_'))
  return {
    ciphers: hasOlder ? `${DEFAULT_CIPHERS}:!DHE` : DEFAULT_CIPHERS,
    ecdhCurve: CURVES.find(isSupported) ?? 'auto',
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  }
}

/** An OpenSSL that is bound to FIPS may have no X25519. */
const CURVES = ['X25519:P-256:P-384:P-521', 'P-256:P-384:P-521']

function isSupported(ecdhCurve: string): boolean {
  try {
    createSecureContext({ ecdhCurve })
    return true
  } catch {
    return false
  }
}

/** They are made for the first request, since they cost some milliseconds. */
let handshake: ReturnType<typeof handshakeRules> | undefined

function send(address: string, request: JudgedRequest): Promise<IncomingMessage> {
  const { isAllowed, signal } = request
  return new Promise((resolve, reject) => {
    const url = new URL(address)
    // A literal is never looked up.
    const host = url.hostname.replace(/^\[|\]$/g, '')
    if (isIP(host) !== 0 && !isAllowed(host)) throw notPublic()
    handshake ??= handshakeRules()
    const connecting = { keepAlive: false, autoSelectFamily: true, lookup: judgedLookUp(request) }
    const headers = { ...NAME, ...request.headers, 'accept-encoding': 'identity' }
    // An agent of its own: that of the process may use a proxy, or keep connections of others.
    const sent =
      url.protocol === 'https:'
        ? https.request(url, {
            agent: new https.Agent({ ...connecting, ...handshake }),
            headers,
            signal,
          })
        : http.request(url, { agent: new http.Agent(connecting), headers, signal })
    sent.on('response', resolve)
    sent.on('error', reject)
    let notices = 0
    sent.on('information', () => {
      notices += 1
      if (notices > MOST_NOTICES) sent.destroy(new FetchFailure('too many informational answers'))
    })
    // A server that switches protocols ends it without a word.
    sent.on('close', () => reject(new FetchFailure('no answer')))
    sent.end()
  })
}

/** The connection's own look-up: what it gives is what is connected to. */
function judgedLookUp({ isAllowed, signal }: JudgedRequest): LookupFunction {
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

/**
 * The special-purpose addresses of IPv4 that cannot be reached from everywhere (IANA's registry,
 * RFC 6890), multicast (RFC 5771), what is reserved, and what clouds route to services for their
 * own machines. Alibaba's 100.100.100.200 and Oracle's 192.0.0.192 lie in such blocks.
 */
const SPECIAL_IPV4: readonly (readonly [net: string, prefix: number])[] = [
  ['0.0.0.0', 8], // this network
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // shared by the customers of a carrier
  ['127.0.0.0', 8], // loopback
  ['161.26.0.0', 16], // services of IBM's cloud for its own machines
  ['166.8.0.0', 14], // the same
  ['168.63.129.16', 32], // the host of a machine in Azure
  ['169.254.0.0', 16], // link-local, where clouds keep their machines' credentials
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocol assignments
  ['192.0.2.0', 24], // documentation
  ['192.88.99.0', 24], // relays of 6to4, no longer in use
  ['192.168.0.0', 16], // private
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, and broadcast
]

/** The only block of IPv6 that is handed out to be reached from everywhere (RFC 4291 §2.4). */
const GLOBAL_IPV6 = ['2000::', 3] as const

/** The parts of that block which cannot be reached, or lead on to an IPv4 address. */
const SPECIAL_IPV6: readonly (readonly [net: string, prefix: number])[] = [
  ['2001::', 23], // protocol assignments, Teredo among them
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4
  ['3fff::', 20], // documentation
]

/**
 * An IPv6 address that stands for an IPv4 address: mapped (RFC 4291), or by NAT64 (RFC 6052). Older
 * forms (compatible, translated, 6to4, Teredo) are never public.
 */
const IPV4_WITHIN = /^(?:::ffff:|64:ff9b::)([\da-f]{1,4}):([\da-f]{1,4})$/

const special = new BlockList()
for (const [net, prefix] of SPECIAL_IPV4) special.addSubnet(net, prefix, 'ipv4')
for (const [net, prefix] of SPECIAL_IPV6) special.addSubnet(net, prefix, 'ipv6')
const global = new BlockList()
global.addSubnet(...GLOBAL_IPV6, 'ipv6')

/**
 * Whether an IP address can be reached from everywhere, and so leads into no network of ours. What
 * is no address is not public, nor is one with a zone.
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return !special.check(address, 'ipv4')
  const literal = `http://[${address}]`
  if (!URL.canParse(literal)) return false
  const plain = new URL(literal).hostname.slice(1, -1)
  const within = IPV4_WITHIN.exec(plain)
  if (within) return isPublicAddress(dotted(within.slice(1)))
  return global.check(plain, 'ipv6') && !special.check(plain, 'ipv6')
}

function dotted(groups: readonly string[]): string {
  const bytes = groups.flatMap((group) => {
    const value = Number.parseInt(group, 16)
    return [value >> 8, value & 0xff]
  })
  return bytes.join('.')
}
