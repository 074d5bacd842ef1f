import { BlockList, isIP, isIPv4, SocketAddress } from 'node:net'

/** An address, `unix` for a connection on a unix socket, or null: it is not known. */
export type Sender = string | null

const UNIX = 'unix'

interface Network {
  readonly address: string
  readonly family: 'ipv4' | 'ipv6'
  readonly bits: number
}

/** The connections of which a header counts. */
export class Proxies {
  readonly #hasUnix: boolean
  // Apart: an address of one kind is in no network of the other.
  readonly #lists = { ipv4: new BlockList(), ipv6: new BlockList() }

  constructor(proxies: readonly string[]) {
    this.#hasUnix = proxies.includes(UNIX)
    for (const { address, family, bits } of proxies.flatMap((text) => readNetwork(text) ?? [])) {
      this.#lists[family].addSubnet(address, bits, family)
    }
  }

  include(sender: Sender): boolean {
    if (sender === null) return false
    if (sender === UNIX) return this.#hasUnix
    // The address of a link has the name of the interface at its end.
    const host = readNetwork(sender.replace(/%.*$/s, ''))
    return host !== undefined && this.#lists[host.family].check(host.address, host.family)
  }
}

export function isProxies(value: unknown): value is readonly string[] {
  const isProxy = (item: unknown) =>
    typeof item === 'string' && (item === UNIX || readNetwork(item) !== undefined)
  return Array.isArray(value) && value.length > 0 && value.every(isProxy)
}

/** One address is a network of its own. IPv4 in IPv6 counts as IPv4. */
function readNetwork(text: string): Network | undefined {
  const [host = '', mask, ...more] = text.split('/')
  if (isIP(host) === 0 || host.includes('%') || more.length > 0) return undefined
  const whole = isIPv4(host) ? 32 : 128
  if (mask !== undefined && !/^(?:0|[1-9]\d{0,2})$/.test(mask)) return undefined
  const bits = mask === undefined ? whole : Number(mask)
  if (bits > whole) return undefined
  if (isIPv4(host)) return { address: host, family: 'ipv4', bits }
  const { address } = new SocketAddress({ address: host, family: 'ipv6' })
  const mapped = /^::ffff:([\d.]+)$/.exec(address)?.[1]
  if (mapped === undefined) return { address, family: 'ipv6', bits }
  // A shorter mask would mean addresses of both kinds.
  return bits < 96 ? undefined : { address: mapped, family: 'ipv4', bits: bits - 96 }
}

/** The needed part of a socket: the types of Node do not name its server. */
interface Connection {
  readonly remoteAddress?: unknown
  readonly destroyed?: unknown
  readonly server?: { address(): unknown }
}

/**
 * The sender of a request. A connection on a unix socket has no address, and neither has one over TCP
 * that has ended. The server's own address shows which: a path is a socket.
 */
export function senderOf(raw: { readonly socket: unknown }): Sender {
  try {
    const { remoteAddress: address, destroyed, server }: Connection = Object(raw.socket)
    if (typeof address === 'string') return isIP(address) === 0 ? null : address
    if (address !== undefined || destroyed !== false) return null
    return typeof server?.address() === 'string' ? UNIX : null
  } catch {
    // A session of HTTP/2 that has ended gives its socket no more, and a server may be another's.
    return null
  }
}
