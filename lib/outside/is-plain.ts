// Outside: objects of classes, such as a Map, which tell nothing by members of their own.

/**
 * Whether an object is a plain one: its members are its own, and nothing is inherited but what all
 * objects have. Realms have an Object.prototype each.
 */
export function isPlain(value: object): boolean {
  const prototype: unknown = Reflect.getPrototypeOf(value)
  if (typeof prototype !== 'object' || prototype === null) return prototype === null
  return Reflect.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'hasOwnProperty')
}
