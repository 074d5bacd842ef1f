// Outside: addresses of the Internet, among which stand those of our own network.

import { BlockList, isIP } from 'node:net'

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
  ['169.254.0.0', 16], // link-local, where clouds tell their machines' credentials
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

/** Of IPv6 nothing but this is handed out to be reached from everywhere (RFC 4291 §2.4). */
const GLOBAL_IPV6 = ['2000::', 3] as const

/** What of that cannot be, or leads on to an IPv4 address. */
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

/** The IPv4 address in two groups of an IPv6 address. */
function dotted(groups: readonly string[]): string {
  const bytes = groups.flatMap((group) => {
    const value = Number.parseInt(group, 16)
    return [value >> 8, value & 0xff]
  })
  return bytes.join('.')
}
