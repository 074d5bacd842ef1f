import { EVERY_TENANT } from '../tenants/tenant-name.ts'
import { listsSize } from '../tokens/kept-size.ts'
import type { Resources, UserInfo } from '../tokens/user-info.ts'

/** The tenants that an issuer may speak for; `*`: every one. */
export type Pin = '*' | ReadonlySet<string>

/**
 * What a user is by the word of an issuer that speaks for these tenants. Rights in other tenants
 * are removed. What is granted in every tenant becomes a right in each of its tenants that the user
 * has, so that it counts in no other tenant, and not where there is no tenant. Nothing later knows
 * of the pin.
 *
 * @returns a frozen copy, or the same user where nothing is pinned
 */
export function pinned(userInfo: UserInfo, tenants: Pin): UserInfo {
  const resources = Object.hasOwn(userInfo, 'resources') ? userInfo.resources : undefined
  if (tenants === EVERY_TENANT || resources === undefined) return userInfo
  return Object.freeze({ ...userInfo, resources: pinnedResources(resources, tenants) })
}

/** The same of the rights alone. */
export function pinnedResources(resources: Resources, tenants: Pin): Resources {
  if (tenants === EVERY_TENANT) return resources
  const granted = new Map(Object.entries(resources))
  const everywhere = granted.get(EVERY_TENANT) ?? []
  const served = [...granted]
    .filter(([tenant]) => tenant !== EVERY_TENANT && tenants.has(tenant))
    .map(([tenant, ids]) => [tenant, Object.freeze([...new Set([...ids, ...everywhere])])] as const)
  return Object.freeze(Object.fromEntries(served))
}

/** Bytes of the most that `pinnedResources` makes: a copy with what is granted in every tenant. */
export function pinnedSize(resources: Resources): number {
  const lists = new Map(Object.entries(resources))
  return listsSize([...lists.values()], lists.get(EVERY_TENANT)?.length ?? 0)
}
