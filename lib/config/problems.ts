import { ERR_AUTH_CONFIG_INVALID } from '../errors.ts'
import { isObject, isPlain } from '../platform/runtime/own-property.ts'
import { nearestName } from './did-you-mean.ts'
import { showName, showPath, showValue } from './redact.ts'

/** Who gave a value: the key and the place that a problem names. */
export interface Source {
  readonly key: string
  readonly where: string
}

/** Most problems that one boot error tells. A file of another kind may have thousands. */
const MOST_TOLD = 50

/**
 * What is wrong with a configuration. All of it is told at once, each problem on a line of its own.
 */
export class Problems {
  readonly #lines: string[] = []
  readonly #listed = new Set<string>()

  get count(): number {
    return this.#lines.length
  }

  /** The first one; undefined: there is none. */
  get first(): string | undefined {
    return this.#lines[0]
  }

  /**
   * @param found what stands there, fit to be shown
   * @param hint what may be meant, or what to do
   */
  add({ key, where }: Source, expected: string, found: string, hint?: string): void {
    const problem = `${showName(key)}: expected ${expected}, found ${found} (${showPath(where)})`
    this.#lines.push(hint === undefined ? problem : `${problem}: ${hint}`)
  }

  /** A value that cannot be used. */
  addValue(source: Source, expected: string, value: unknown): void {
    const values: unknown[] = Array.isArray(value) ? value : [value]
    // `process.env.NOPE`, alone or in a list.
    const hint = values.includes(undefined) ? 'is an environment variable missing?' : undefined
    this.add(source, expected, showValue(value), hint)
  }

  /**
   * An unknown name in the place of one of the known ones. These are listed once, the nearest one
   * first.
   *
   * @param given its value; absent where that may be a secret
   */
  addUnknown(
    name: string,
    source: Source,
    known: readonly string[],
    given?: { readonly value: unknown },
  ): void {
    const nearest = nearestName(name, known)
    // What other software calls so may be a secret, too.
    const isShown = nearest !== undefined && given !== undefined
    const found = isShown ? showValue(given.value) : `"${showName(name)}"`
    const list = known.join(', ')
    const others = known.filter((name) => name !== nearest)
    const names = nearest === undefined ? list : [nearest, ...others].join(', ')
    const expected = this.#listed.has(list)
      ? (nearest ?? 'one of the names above')
      : `one of ${names}`
    this.#listed.add(list)
    this.add(source, expected, found, nearest && `did you mean ${nearest}?`)
  }

  /** @throws ERR_AUTH_CONFIG_INVALID where there is a problem */
  throwIfAny(): void {
    if (this.count === 0) return
    const told = this.#lines.slice(0, MOST_TOLD)
    const more = this.count - told.length
    if (more > 0) told.push(`and ${more} more`)
    throw new ERR_AUTH_CONFIG_INVALID(told.join('\n'))
  }
}

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
