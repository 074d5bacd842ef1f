import { Unusable, unexpected } from '../../platform/http/failure.ts'
import { isObject } from '../../platform/runtime/own-property.ts'
import { tokenRefusal } from './token-refusal.ts'

/**
 * From tenant name to the resource ids, each `<name>:<action>`, that a user holds there. Its own
 * keys but `*` are the tenants that the user may act for; `*` holds what is granted in every
 * tenant.
 */
export interface Resources {
  readonly [tenant: string]: readonly string[]
}

/** The user of a request: the verified claims, in OpenID Connect's names. Deeply immutable. */
export interface UserInfo {
  /** The user's identifier at the authorization server (RFC 7519 §4.1.2). Never empty. */
  readonly sub: string

  /** The name that the user goes by (OpenID Connect Core §5.1). */
  readonly preferred_username?: string

  /**
   * The resources of the user in each tenant: of the token, or of `resourcesOf` if that is given.
   */
  readonly resources?: Resources

  /** Every other claim of the token. */
  readonly [claim: string]: unknown
}

/**
 * Deepest nesting of claims that is accepted. A handler may send them on, and JSON.stringify
 * recurses.
 */
const MAX_DEPTH = 64

/** Most characters of a tenant's name that a log shows. */
const SHOWN = 100

/**
 * Makes user info of verified claims: checks what decides anything, by own properties only, and
 * freezes the whole. The argument is frozen in place.
 *
 * @throws ERR_AUTH_TOKEN_INVALID
 */
export function readUserInfo(claims: unknown): UserInfo {
  const userInfo = readFlatUserInfo(claims)
  freezeDeep(userInfo)
  return userInfo
}

/**
 * The same of claims that are known not to be nested too deeply. They are not frozen yet, since
 * most users of an API are never looked at; see `frozenUserInfo`.
 *
 * @throws ERR_AUTH_TOKEN_INVALID
 */
export function readFlatUserInfo(claims: unknown): UserInfo {
  if (isUserInfo(claims)) return claims
  throw tokenRefusal(isObject(claims) ? MALFORMED : 'the claims are no object')
}

export function frozenUserInfo(userInfo: UserInfo): UserInfo {
  if (!Object.isFrozen(userInfo)) freezeDeep(userInfo)
  return userInfo
}

const MALFORMED = 'sub, resources or preferred_username is malformed'

/** For data, which has no getters. */
function own(claims: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(claims, name) ? claims[name] : undefined
}

function isUserInfo(claims: unknown): claims is UserInfo {
  return problemOf(claims) === undefined
}

/** The member that keeps claims from being user info; undefined: they are. */
export function problemOf(claims: unknown): Unusable | undefined {
  if (!isObject(claims)) return unexpected('the answer', 'an object', claims)
  const sub = own(claims, 'sub')
  const name = own(claims, 'preferred_username')
  const resources = own(claims, 'resources')
  if (sub === '') return new Unusable('sub: expected a string that is not empty')
  if (typeof sub !== 'string') return unexpected('sub', 'a string', sub)
  if (name !== undefined && typeof name !== 'string') {
    return unexpected('preferred_username', 'a string', name)
  }
  return resources === undefined ? undefined : problemOfResources(resources)
}

/** The same of resources alone, whose members are tenants. */
export function problemOfResources(resources: unknown): Unusable | undefined {
  if (!isObject(resources)) return unexpected('resources', 'an object', resources)
  for (const tenant of Object.keys(resources)) {
    const ids = resources[tenant]
    if (!Array.isArray(ids)) return unexpected(nameOf(tenant), 'a list of strings', ids)
    const at = ids.findIndex((id) => typeof id !== 'string')
    if (at >= 0) return unexpected(`${nameOf(tenant)}, item ${at}`, 'a string', ids[at])
  }
  return undefined
}

export function isResources(value: unknown): value is Resources {
  return problemOfResources(value) === undefined
}

function nameOf(tenant: string): string {
  return `resources of ${JSON.stringify(tenant.slice(0, SHOWN))}`
}

/** The recursion ends at a depth of its own: thousands of levels fit into one token. */
function freezeDeep(item: object, depth = 0): void {
  if (depth > MAX_DEPTH) throw tokenRefusal('the claims are nested too deeply')
  for (const value of Array.isArray(item) ? item : Object.values(item)) {
    if (typeof value === 'object' && value !== null) freezeDeep(value, depth + 1)
  }
  Object.freeze(item)
}
