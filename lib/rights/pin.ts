import { EVERY_TENANT } from '../tenants/tenant-name.ts'
import type { Resources } from '../tokens/user-info.ts'

/** The tenants that an issuer may speak for; `*`: every one. */
export type Pin = '*' | ReadonlySet<string>

/**
 * The rights that count by the word of an issuer that speaks for these tenants. Rights in other
 * tenants are removed. What is granted in every tenant becomes a right in each of its tenants that
 * the user has, so that it counts in no other tenant, and not where there is no tenant. It is
 * looked at once, however many tenants there are.
 *
 * @returns a frozen copy, or the same rights where nothing is pinned
 */
export function pinnedResources(resources: Resources, tenants: Pin): Resources {
  if (tenants === EVERY_TENANT) return resources
  const granted = new Map(Object.entries(resources))
  const everywhere = new Set(granted.get(EVERY_TENANT))
  const shared = Object.freeze([...everywhere])
  const served = [...granted]
    .filter(([tenant]) => tenant !== EVERY_TENANT && tenants.has(tenant))
    .map(([tenant, ids]) => {
      const own = [...new Set(ids)].filter((id) => !everywhere.has(id))
      return [tenant, own.length === 0 ? shared : Object.freeze([...own, ...shared])] as const
    })
  return Object.freeze(Object.fromEntries(served))
}

/** Bytes of what `pinnedResources` repeats in each tenant at most: what is granted everywhere. */
export function pinnedSize(resources: Resources): number {
  const lists = new Map(Object.entries(resources))
  return 8 * lists.size * (lists.get(EVERY_TENANT)?.length ?? 0)
}
