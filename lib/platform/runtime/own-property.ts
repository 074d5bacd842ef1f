// Outside: data of others, each part of which may have any type, and Object.prototype, which any
// code may extend.

/**
 * A property that the object itself has. Data from outside is never read by plain access:
 * `constructor` and all else that Object.prototype holds would answer too.
 */
export function ownProperty(object: object, name: string): unknown {
  return Object.getOwnPropertyDescriptor(object, name)?.value
}

/** The same of a value that may be no object. */
export function ownMember(value: unknown, name: string): unknown {
  return isObject(value) ? ownProperty(value, name) : undefined
}

/** Null and lists are no objects here. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * The members of a plain object are its own, and it inherits nothing but the members of all
 * objects. Realms have an Object.prototype each.
 */
export function isPlain(value: object): boolean {
  const prototype: unknown = Reflect.getPrototypeOf(value)
  if (typeof prototype !== 'object' || prototype === null) return prototype === null
  return Reflect.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'hasOwnProperty')
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return isObject(value) && isPlain(value)
}

/** True: a value consists of plain objects with plain members, as JSON does. */
export function isPlainData(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return value.every(isPlainData)
  const properties = Object.values(Object.getOwnPropertyDescriptors(value))
  return (
    isPlain(value) &&
    properties.every((property) => isPlainMember(property) && isPlainData(property.value))
  )
}

export function isPlainMember(property: PropertyDescriptor): boolean {
  return Object.hasOwn(property, 'value') && property.enumerable === true
}

/**
 * The values of an object's own members, by name. A member that would mean less than it seems to
 * makes it undefined: a misspelt one, a getter, one that is not enumerable, and `undefined`.
 *
 * @param names all that it may have
 */
export function knownMembers(
  given: object,
  names: readonly unknown[],
): Map<unknown, unknown> | undefined {
  const members = new Map<unknown, unknown>()
  for (const name of Reflect.ownKeys(given)) {
    const member = Object.getOwnPropertyDescriptor(given, name)
    if (!names.includes(name) || !member?.enumerable || member.value === undefined) return undefined
    members.set(name, member.value)
  }
  return members
}

/** A copy that has its own members alone, and not even those of Object.prototype. */
export function ownCopy<T extends object>(given: T): T {
  return Object.assign(Object.create(null), given)
}
