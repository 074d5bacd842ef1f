import { isPlain } from '../outside/is-plain.ts'
import { Unusable, unexpected } from '../outside/unusable.ts'
import { isResources, problemOfResources, type Resources } from '../tokens/user-info.ts'

/**
 * What an application has answered, in the shape of the claim `resources`: a frozen copy of it,
 * since the application may change or share it. A Map, or an object of a class, must not count as
 * one without tenants.
 *
 * @throws Unusable where it has another shape, and what a getter or a proxy throws
 */
export function readResources(answer: unknown): Resources {
  if (typeof answer !== 'object' || answer === null) {
    throw unexpected('the answer', 'an object or null', answer)
  }
  if (!isPlain(answer)) throw new Unusable('the answer: expected a plain object, found another one')
  // Spreading turns the holes of a sparse list into `undefined`, which the check finds.
  const lists = Object.entries(answer).map(
    ([tenant, ids]: [string, unknown]) => [tenant, Array.isArray(ids) ? [...ids] : ids] as const,
  )
  // Not by assignment: a tenant may be called `__proto__`.
  const copy: object = Object.fromEntries(lists)
  if (!isResources(copy)) throw problemOfResources(copy)
  for (const ids of Object.values(copy)) Object.freeze(ids)
  return Object.freeze(copy)
}
