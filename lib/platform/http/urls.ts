// Outside: addresses from documents and configuration. They may lead into networks on which others
// can read what is sent and replace what comes, and they may hold a secret.

/** Without credentials, of which an `@` is the sign, and without errors that URL parsers mend. */
const PLAIN_URL = /^https?:\/\/[^\s/?#@\\]+(?:[/?#][^\s\\]*)?$/i

/** An answer from such an address cannot be replaced on the way. */
export function isSecureUrl(address: string): boolean {
  if (!PLAIN_URL.test(address) || !URL.canParse(address)) return false
  const { protocol, hostname } = new URL(address)
  return protocol === 'https:' || isLoopback(hostname)
}

/** An address or a host name that stays on this machine. */
export function isLoopback(host: string): boolean {
  if (host === 'localhost' || host === '::1' || host === '[::1]') return true
  return /^(?:::ffff:)?127\.[\d.]+$/.test(host)
}

/** Most characters of an address in a log. */
const MAX_LENGTH = 100

/**
 * The part of an address that may be logged: origin and path, because a query may hold a secret.
 * Null if it is not a plain http or https URL. A parsed URL has no control characters left.
 */
export function redactUrl(address: unknown): string | null {
  if (typeof address !== 'string' || !URL.canParse(address)) return null
  const { protocol, username, password, origin, pathname } = new URL(address)
  if (!/^https?:$/.test(protocol) || username !== '' || password !== '') return null
  return `${origin}${pathname}`.slice(0, MAX_LENGTH)
}
