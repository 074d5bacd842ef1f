import type { Resources } from '../tokens/user-info.ts'

/**
 * What an application has answered, in the shape of the claim `resources`: a frozen copy of it,
 * since the application may change or share it. Undefined: it has another shape. A Map, or an
 * object of a class, must not count as one without tenants.
 */
export function readResources(answer: unknown): Resources | undefined {
  try {
    if (!isPlain(answer)) return undefined
    const lists: [tenant: string, ids: readonly string[]][] = []
    for (const [tenant, value] of Object.entries(answer)) {
      const ids = readIds(value)
      if (ids === undefined) return undefined
      lists.push([tenant, ids])
    }
    // Not by assignment: a tenant may be called `__proto__`.
    return Object.freeze(Object.fromEntries(lists))
  } catch {
    // A getter or a proxy of the application has failed.
    return undefined
  }
}

/** Of any realm: a prototype without a prototype is Object.prototype. */
function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

function readIds(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined
  // A copy has no holes.
  const ids: readonly unknown[] = [...value]
  return ids.every((id) => typeof id === 'string') ? Object.freeze(ids) : undefined
}
