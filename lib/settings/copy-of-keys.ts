/**
 * A frozen copy of a JWK set, which is JSON: what the application does to its own has no effect.
 */
export function copyOfKeys(keys: object): object {
  return JSON.parse(JSON.stringify(keys), (_name, value: unknown) => Object.freeze(value))
}
