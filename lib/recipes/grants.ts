import { isPlain } from '../outside/is-plain.ts'
import { isResourceId } from '../rights/resource-id.ts'

/**
 * What the roles or groups of a server grant.
 * - A table: each name grants the resource ids that the table has for it. A name that is not in the
 *   table grants nothing.
 * - `verbatim`: a name that is a resource id grants itself. Any other name grants nothing.
 * - Not given: a name grants the one id `<kind>:<name>`. Each recipe says what the kind is called.
 */
export type Grants = 'verbatim' | Readonly<Record<string, readonly string[]>>

/**
 * Gives a function from the name of a role or a group to the ids that it grants.
 *
 * @throws TypeError for a table that cannot be right
 */
export function granting(
  kind: string,
  grants: Grants | undefined,
): (name: string) => readonly string[] {
  if (grants === undefined) return (name) => [`${kind}:${name}`].filter(isResourceId)
  if (grants === 'verbatim') return (name) => [name].filter(isResourceId)
  if (!isPlain(grants)) throw new TypeError(`what ${kind}s grant is no plain object`)
  const table = new Map(Object.entries(grants))
  for (const [name, ids] of table) {
    if (Array.isArray(ids) && ids.every(isResourceId)) continue
    throw new TypeError(`what ${kind} ${name} grants is no list of resource ids <name>:<action>`)
  }
  return (name) => table.get(name) ?? []
}
