import { isProtected } from '../outside/protected-address.ts'

/** What the option `resource` may be, in the words of a boot error. */
export const RESOURCE_EXPECTED =
  'an https URL (http on loopback) as URL parsers spell it, without credentials, query, fragment, % and *, and without a slash at its end'

/**
 * Whether a value can be a protected resource's identifier (RFC 9728 §1.2), which clients compare
 * to the letter. So it has the one spelling that URL parsers give it. What has to be escaped in a
 * path, and `*`, a router may not find again.
 */
export function isResourceAddress(value: string): boolean {
  if (!isProtected(value) || /[?#%*]|\/$/.test(value)) return false
  const { href, pathname } = new URL(value)
  return (pathname === '/' ? href.slice(0, -1) : href) === value
}

/** The path of a resource's metadata: the well-known one, and then its own (RFC 9728 §3.1). */
export function metadataPath(resource: string): string {
  const { pathname } = new URL(resource)
  return `/.well-known/oauth-protected-resource${pathname === '/' ? '' : pathname}`
}

/** The address of a resource's metadata. It depends on the configuration alone. */
export function metadataAddress(resource: string): string {
  return `${new URL(resource).origin}${metadataPath(resource)}`
}
