import { isObject } from '../outside/is-object.ts'
import { isPlain } from '../outside/is-plain.ts'
import type { Problems, Source } from './problems.ts'
import { showValue } from './shown-value.ts'

/**
 * The members of an object that configures something, by name. What an object inherits, hides or
 * computes would be left out in silence, so that a default would count. It is told.
 *
 * @param placeOf the place of a member
 */
export function ownMembers(
  given: unknown,
  self: Source,
  placeOf: (name: string) => Source,
  problems: Problems,
): Map<string, unknown> {
  const members = new Map<string, unknown>()
  if (!isObject(given)) {
    problems.add(self, 'an object', showValue(given))
    return members
  }
  if (!isPlain(given)) {
    problems.add(self, 'a plain object', 'one of a class, or one that inherits members')
    return members
  }
  for (const name of Object.getOwnPropertyNames(given)) {
    const property = Object.getOwnPropertyDescriptor(given, name)
    if (property !== undefined && isPlainMember(property)) {
      members.set(name, property.value)
    } else {
      problems.add(placeOf(name), 'a plain member', 'a getter, or one that is not enumerable')
    }
  }
  return members
}

/** Whether all that is within a value is what JSON holds: plain objects with plain members. */
export function isPlainData(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return value.every(isPlainData)
  const properties = Object.values(Object.getOwnPropertyDescriptors(value))
  return (
    isPlain(value) &&
    properties.every((property) => isPlainMember(property) && isPlainData(property.value))
  )
}

function isPlainMember(property: PropertyDescriptor): boolean {
  return Object.hasOwn(property, 'value') && property.enumerable === true
}

/** A frozen copy of a JWK set, which is JSON. The application may change its own. */
export function copyOfKeys(keys: object): object {
  return JSON.parse(JSON.stringify(keys), (_name, value: unknown) => Object.freeze(value))
}

const REGISTER_OPTIONS: readonly unknown[] = ['prefix', 'logLevel', 'logSerializers']

/**
 * A plugin's options without those that `register` itself takes. Loaders such as @fastify/autoload
 * add these to every plugin's options.
 */
export function withoutRegisterOptions(options: object): object {
  // Its reader refuses it.
  if (!isPlain(options)) return options
  const own: object = Object.create(null)
  for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(options))) {
    if (!REGISTER_OPTIONS.includes(name)) Reflect.defineProperty(own, name, property)
  }
  return own
}
