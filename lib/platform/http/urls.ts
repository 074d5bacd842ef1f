// Outside: addresses from documents and configuration. They may lead into networks on which others
// can read what is sent and replace what comes, and they may hold a secret.

/** Without credentials, of which an `@` is the sign, and without what URL parsers mend. */
const PLAIN_URL = /^https?:\/\/[^\s/?#@\\]+(?:[/?#][^\s\\]*)?$/i

/** Whether what comes from an address cannot be replaced on the way. */
export function isSecureUrl(address: string): boolean {
  if (!PLAIN_URL.test(address) || !URL.canParse(address)) return false
  const { protocol, hostname } = new URL(address)
  return protocol === 'https:' || isLoopback(hostname)
}

/** Whether an address or a host name stays on this machine. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127\.[\d.]+$/.test(host)
}

/** Most characters of an address that are shown. */
const MAX_LENGTH = 100

/**
 * What a log may say of an address: origin and path, because a query may hold a secret. Null if it
 * is not a plain http or https URL. A parsed URL has no control characters left.
 */
export function redactUrl(address: unknown): string | null {
  if (typeof address !== 'string' || !URL.canParse(address)) return null
  const { protocol, username, password, origin, pathname } = new URL(address)
  if (!/^https?:$/.test(protocol) || username !== '' || password !== '') return null
  return `${origin}${pathname}`.slice(0, MAX_LENGTH)
}
