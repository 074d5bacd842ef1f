// Outside: addresses from documents and configuration, which may hold a secret.

/** Most characters of an address that are shown. */
const MAX_LENGTH = 100

/**
 * What a log may say of an address: origin and path, because a query may hold a secret. Null if it
 * is not a plain http or https URL. A parsed URL has no control characters left.
 */
export function shownAddress(address: unknown): string | null {
  if (typeof address !== 'string' || !URL.canParse(address)) return null
  const { protocol, username, password, origin, pathname } = new URL(address)
  if (!/^https?:$/.test(protocol) || username !== '' || password !== '') return null
  return `${origin}${pathname}`.slice(0, MAX_LENGTH)
}
