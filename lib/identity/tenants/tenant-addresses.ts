import { flatString } from '../../platform/runtime/flat-string.ts'
import type { TenantsByAddress } from '../jwt/addressed-tenants.ts'
import { isTenantName, MAX_TENANT_LENGTH } from './tenant-name.ts'

/** One segment of a path. URL parsers end it at each of the others. */
const SEGMENT = /^[^/?#\\]+$/

/** Bytes after the first one of a character. */
const MORE = '%[89ab][\\da-f]'

/**
 * Percent-encoded text that is UTF-8 (RFC 3629 §4). `decodeURIComponent` throws for any other, and
 * an exception costs more than the rest: a stranger's token may name dozens of addresses.
 */
const ENCODED_TEXT = new RegExp(
  `^(?:${[
    '[^%]',
    '%[0-7][\\da-f]',
    `%(?:c[2-9a-f]|d[\\da-f])${MORE}`,
    `%(?:e0(?=%[ab])|e[1-9a-cef]|ed(?=%[89]))(?:${MORE}){2}`,
    `%(?:f0(?=%[9ab])|f[1-3]|f4(?=%8))(?:${MORE}){3}`,
  ].join('|')})*$`,
  'i',
)

/** Longest encoded name: a character of the name is at most nine of the address. */
const LONGEST = 9 * MAX_TENANT_LENGTH

/**
 * URL parsers take them for steps in the path, encoded too, so no tenant of these names has an
 * address.
 */
const STEPS: ReadonlySet<string> = new Set(['.', '..'])

/**
 * An address for each tenant, by a pattern of which one segment is the tenant's name. In an address
 * the name is percent-encoded, and names are compared decoded. All else of it has one spelling.
 */
export class TenantAddresses implements TenantsByAddress {
  readonly pattern: string
  readonly #before: string
  readonly #after: string

  /**
   * @param pattern an address with one segment `/:parameter`
   * @param parameter the name of the path parameter that is the tenant
   */
  constructor(pattern: string, parameter: string) {
    const segment = `/:${parameter}`
    const at = pattern.indexOf(segment)
    this.pattern = pattern
    this.#before = pattern.slice(0, at + 1)
    this.#after = pattern.slice(at + segment.length)
  }

  /** The address of a tenant; undefined: it can have none. */
  of(tenant: string): string | undefined {
    if (STEPS.has(tenant)) return undefined
    return `${this.#before}${encodeURIComponent(tenant)}${this.#after}`
  }

  /** The tenant of an address; undefined: it is no address of a tenant. */
  tenantOf(address: string): string | undefined {
    const end = address.length - this.#after.length
    if (!address.startsWith(this.#before) || !address.endsWith(this.#after)) return undefined
    const segment = address.slice(this.#before.length, end)
    if (segment.length > LONGEST || !SEGMENT.test(segment)) return undefined
    if (!ENCODED_TEXT.test(segment)) return undefined
    const name = decodeURIComponent(segment)
    return isTenantName(name) && !STEPS.has(name) ? flatString(name) : undefined
  }
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
