import { Maybe } from '../../config/option-types.ts'
import { showName } from '../../config/redact.ts'
import { isResourceId } from '../../identity/authorization/resources.ts'
import type { UserInfo } from '../../identity/jwt/user-info.ts'
import { EVERY_TENANT } from '../../identity/tenants/tenant-name.ts'
import { isObject, isPlainObject, ownProperty } from '../../platform/runtime/own-property.ts'

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

/** The resource ids that are granted in one tenant, or under `*` in each. */
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
    const known = byTenant.get(tenant) ?? new Set()
    for (const id of ids) known.add(id)
    byTenant.set(tenant, known)
  }
  // Not by assignment, because a tenant may be called `__proto__`.
  const resources = Object.fromEntries([...byTenant].map(([tenant, ids]) => [tenant, [...ids]]))
  return { ...claims, sub, ...(name !== undefined && { preferred_username: name }), resources }
}

export function objectIn(holder: object, name: string): object {
  const value = ownProperty(holder, name)
  if (value === undefined) return {}
  if (!isObject(value)) throw malformed(name)
  return value
}

export function listIn(holder: object, name: string): readonly string[] {
  const value = ownProperty(holder, name)
  if (value === undefined) return []
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) {
    throw malformed(name)
  }
  return value
}

export function tenantIn(holder: object, name: string): string {
  return tenantName(name, ownProperty(holder, name))
}

/** Never `*`: one claim of one tenant would grant its rights in all tenants. */
export function tenantName(claim: string, value: unknown): string {
  if (typeof value !== 'string' || value === '' || value === EVERY_TENANT) throw malformed(claim)
  return value
}

export function malformed(claim: string): TypeError {
  return new TypeError(`the claim ${claim} is not of the documented shape`)
}

/**
 * The resource ids that the roles or groups of a server grant.
 * - A table: each name grants the resource ids that the table has for it. A name that is not in the
 *   table grants nothing.
 * - `verbatim`: a name that is a resource id grants itself. Any other name grants nothing.
 * - Not given: a name grants the one id `<kind>:<name>`. Each recipe says what the kind is called.
 */
export type Grants = 'verbatim' | Readonly<Record<string, readonly string[]>>

/** The ids that roles or groups grant, as an option of a recipe. */
export const GRANTS = Maybe<Grants>(
  "'verbatim', or an object from names to lists of resource ids <name>:<action>",
  (value): value is Grants =>
    value === 'verbatim' || (isPlainObject(value) && wrongName(value) === undefined),
  {
    hint: (value: unknown) =>
      isPlainObject(value) ? `look at ${showName(wrongName(value) ?? '')}` : undefined,
  },
)

/** The first name whose value is no list of ids. */
function wrongName(table: object): string | undefined {
  const isRight = (ids: unknown) => Array.isArray(ids) && [...ids].every(isResourceId)
  return Object.entries(table).find(([, ids]: [string, unknown]) => !isRight(ids))?.[0]
}

/** Gives a function from the name of a role or a group to the ids that it grants. */
export function granting(
  kind: string,
  grants: Grants | undefined,
): (name: string) => readonly string[] {
  if (grants === undefined) return (name) => [`${kind}:${name}`].filter(isResourceId)
  if (grants === 'verbatim') return (name) => [name].filter(isResourceId)
  // The application may change its own lists.
  const table = new Map(Object.entries(grants).map(([name, ids]) => [name, [...ids]]))
  return (name) => table.get(name) ?? []
}
