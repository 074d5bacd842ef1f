/** By own properties only: what somebody adds to Object.prototype is no option. */
export function ownValues(options: object): Map<string, unknown> {
  return new Map(
    Object.getOwnPropertyNames(options).map((name) => [name, Reflect.get(options, name)]),
  )
}
