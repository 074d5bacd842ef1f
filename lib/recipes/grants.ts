import { isResourceId } from '../rights/resource-id.ts'

/**
 * What the roles or groups of a server grant. A table: the resource ids of each name, and nothing
 * for a name that is not in it. `verbatim`: a name that is a resource id grants itself, any other
 * nothing. Not given: a name grants the one id `<kind>:<name>`, where each recipe says what the
 * kind is called.
 */
export type Grants = 'verbatim' | Readonly<Record<string, readonly string[]>>

/**
 * From a role's or a group's name to the ids that it grants. Throws for a table that could not have
 * been meant.
 */
export function granting(
  kind: string,
  grants: Grants | undefined,
): (name: string) => readonly string[] {
  if (grants === undefined) return (name) => [`${kind}:${name}`].filter(isResourceId)
  if (grants === 'verbatim') return (name) => [name].filter(isResourceId)
  const table = new Map(Object.entries(grants))
  for (const [name, ids] of table) {
    if (Array.isArray(ids) && ids.every(isResourceId)) continue
    throw new TypeError(`what ${kind} ${name} grants is no list of resource ids <name>:<action>`)
  }
  return (name) => table.get(name) ?? []
}
