// Outside: data of others, and Object.prototype, to which anybody may add.

/**
 * A property that the object itself has. Data from outside is never asked by plain access:
 * `constructor` and whatever else Object.prototype holds would answer too.
 */
export function ownProperty(object: object, name: string): unknown {
  return Object.getOwnPropertyDescriptor(object, name)?.value
}
