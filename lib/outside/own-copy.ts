// Outside: Object.prototype, from which a plain object has each member that it lacks itself.

/** A copy that has nothing but its own members: not even those of Object.prototype. */
export function ownCopy<T extends object>(given: T): T {
  return Object.assign(Object.create(null), given)
}
