// Outside: data of others, and Object.prototype, which any code may extend.

/**
 * A property that the object itself has. Data from outside is never read by plain access:
 * `constructor` and all else that Object.prototype holds would answer too.
 */
export function ownProperty(object: object, name: string): unknown {
  return Object.getOwnPropertyDescriptor(object, name)?.value
}
