/** A scheme, a host, and a path, without credentials, query, fragment and white space. */
const PLAIN_URL = /^https?:\/\/[^\s/?#@\\]+(?:\/[^\s?#\\]*)?$/i

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

/**
 * Whether an issuer can be asked for its metadata: https, or http on loopback, without query and
 * fragment (OpenID Connect Discovery §2, RFC 8414 §2).
 */
export function isDiscoverable(issuer: string): boolean {
  if (!PLAIN_URL.test(issuer) || !URL.canParse(issuer)) return false
  const { protocol, hostname } = new URL(issuer)
  return protocol === 'https:' || LOOPBACK.test(hostname)
}
