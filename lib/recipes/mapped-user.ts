import { ownProperty } from '../outside/own-property.ts'
import type { UserInfo } from '../tokens/user-info.ts'
import { malformed } from './claim.ts'

/**
 * Recipes for the option `mapClaims`, one for each authorization server that is met often. A recipe
 * is a pure function from verified claims to user info. They have in common:
 *
 * - `resources` is made of the claims that the recipe names, and of nothing else. If such a server
 *   sends a claim of the name `resources` as well, it does not count. All other claims stay as they
 *   are.
 * - A named claim that is absent grants nothing. If it has another shape than the server documents,
 *   the recipe throws, and so the token is refused.
 * - A value that cannot be written as `<name>:<action>`, in the characters of a scope, grants
 *   nothing.
 */
export type MapClaims = (claims: Readonly<Record<string, unknown>>) => UserInfo

/** What is granted in one tenant, or under `*` in each. */
export type Right = readonly [tenant: string, ids: readonly string[]]

/** User info of the claims. These rights replace a claim of the name `resources`. */
export function userInfo(
  claims: Readonly<Record<string, unknown>>,
  rights: readonly Right[],
): UserInfo {
  const sub = ownProperty(claims, 'sub')
  const name = ownProperty(claims, 'preferred_username')
  if (typeof sub !== 'string') throw malformed('sub')
  if (name !== undefined && typeof name !== 'string') throw malformed('preferred_username')
  const byTenant = new Map<string, Set<string>>()
  for (const [tenant, ids] of rights) {
    const held = byTenant.get(tenant) ?? new Set()
    byTenant.set(tenant, held)
    for (const id of ids) held.add(id)
  }
  // Not by assignment, because a tenant may be called `__proto__`.
  const resources = Object.fromEntries([...byTenant].map(([tenant, ids]) => [tenant, [...ids]]))
  return { ...claims, sub, ...(name !== undefined && { preferred_username: name }), resources }
}
