// Outside: networks, on which others can read what is sent, and replace what comes.

import { isLoopback } from './loopback.ts'

/** Without credentials, of which an `@` is the sign, and without what URL parsers mend. */
const PLAIN_URL = /^https?:\/\/[^\s/?#@\\]+(?:[/?#][^\s\\]*)?$/i

/** Whether what comes from an address cannot be replaced on the way. */
export function isProtected(address: string): boolean {
  if (!PLAIN_URL.test(address) || !URL.canParse(address)) return false
  const { protocol, hostname } = new URL(address)
  return protocol === 'https:' || isLoopback(hostname)
}
