import { ERR_AUTH_TENANT_INVALID } from '../errors.ts'
import { isObject } from '../outside/is-object.ts'
import { ownProperty } from '../outside/own-property.ts'
import { isTenantName } from '../tenants/tenant-name.ts'
import { isResourceId } from './resource-id.ts'

/** As whom work without a request runs. */
export interface InternalUser {
  /** Who works, such as `job:invoices`. Not empty. No user's `sub` should be the same. */
  readonly sub: string
  /** The one tenant that the work is for, by its name. */
  readonly tenant: string
  /** The resource ids `<name>:<action>` that it holds in that tenant; the list may be empty. */
  readonly resources: readonly string[]
}

const MEMBERS: readonly unknown[] = ['sub', 'tenant', 'resources']

/**
 * As whom an application wants to work: a copy, by own properties only. What is missing by mistake
 * must not mean less than it seems to, and what is misspelt must not be left out.
 *
 * @throws TypeError
 * @throws ERR_AUTH_TENANT_INVALID (400)
 */
export function readInternalUser(who: unknown): InternalUser {
  if (!isObject(who)) throw new TypeError('actAs() takes an object with sub, tenant and resources')
  if (!Reflect.ownKeys(who).every((name) => MEMBERS.includes(name))) {
    throw new TypeError('actAs() takes sub, tenant and resources, and no other member')
  }
  const sub = ownProperty(who, 'sub')
  if (typeof sub !== 'string' || sub === '') {
    throw new TypeError('actAs() takes a sub that is a string, and not empty')
  }
  const resources = readIds(ownProperty(who, 'resources'))
  const tenant = ownProperty(who, 'tenant')
  if (!isTenantName(tenant)) throw new ERR_AUTH_TENANT_INVALID('not a tenant name')
  return { sub, tenant, resources }
}

function readIds(value: unknown): readonly string[] {
  // A copy has no holes.
  const ids: readonly unknown[] = Array.isArray(value) ? [...value] : [undefined]
  if (ids.every(isResourceId)) return Object.freeze(ids)
  throw new TypeError('actAs() takes resources, a list of ids <name>:<action>')
}
