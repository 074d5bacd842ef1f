import { ERR_AUTH_CONFIG_INVALID } from '../errors.ts'
import { isObject, isPlain, isPlainMember } from '../platform/runtime/own-property.ts'
import { meantBy, nearestName } from './did-you-mean.ts'
import { showHidden, showName, showPath, showValue } from './redact.ts'

/** The key and the place of a value, as a problem names them. */
export interface Source {
  readonly key: string
  readonly where: string
}

/** Most problems in one boot error. A file of another kind may have thousands. */
const MAX_PROBLEMS = 50

const MISSING = 'is an environment variable missing?'

/** The problems of a configuration. One error lists all of them, each on a line of its own. */
export class Problems {
  readonly #lines: string[] = []
  readonly #listed = new Set<string>()

  get count(): number {
    return this.#lines.length
  }

  get first(): string | undefined {
    return this.#lines[0]
  }

  /**
   * @param found the value as the message shows it
   * @param hint the probable intention, or the cure
   */
  add({ key, where }: Source, expected: string, found: string, hint?: string): void {
    const problem = `${showName(key)}: expected ${expected}, found ${found} (${showPath(where)})`
    this.#lines.push(hint === undefined ? problem : `${problem}: ${hint}`)
  }

  /** A value that cannot be used, with the cure if that is known. */
  addValue(
    source: Source,
    expected: string,
    value: unknown,
    cure?: string,
    show: typeof showValue = showValue,
  ): void {
    const values: unknown[] = Array.isArray(value) ? value : [value]
    // `process.env.NOPE`, alone or in a list.
    const hint = values.includes(undefined) ? MISSING : cure
    this.add(source, expected, show(value), hint)
  }

  /**
   * An unknown name in the place of one of the known ones: the nearest one is named. If none is
   * near, all are listed, once. Its value may be a secret.
   */
  addUnknown(name: string, source: Source, known: readonly string[]): void {
    const nearest = nearestName(name, known)
    const list = `one of ${known.join(', ')}`
    const expected = nearest ?? (this.#listed.has(list) ? 'one of the names above' : list)
    this.#listed.add(expected)
    this.add(source, expected, `"${showName(name)}"`, nearest && meantBy(name, nearest))
  }

  /** @throws ERR_AUTH_CONFIG_INVALID if there is a problem */
  throwIfAny(): void {
    if (this.count === 0) return
    const lines = this.#lines.slice(0, MAX_PROBLEMS)
    const more = this.count - lines.length
    if (more > 0) lines.push(`and ${more} more`)
    throw new ERR_AUTH_CONFIG_INVALID(lines.join('\n'))
  }
}

/**
 * The members of an object of options, by name. A member that is inherited, hidden or computed is
 * reported, because its default would silently count.
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
    const hint = given === undefined ? MISSING : undefined
    // A secret may stand in the place of the options that it is one of.
    problems.add(self, 'an object', showHidden(given), hint)
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

const REGISTER_OPTIONS: readonly unknown[] = ['prefix', 'logLevel', 'logSerializers']

/**
 * A plugin's options without those that `register` itself takes. Loaders such as @fastify/autoload
 * add these to every plugin's options.
 */
export function withoutRegisterOptions(options: object): object {
  // The reader refuses it.
  if (!isObject(options) || !isPlain(options)) return options
  const own: object = Object.create(null)
  for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(options))) {
    if (!REGISTER_OPTIONS.includes(name)) Reflect.defineProperty(own, name, property)
  }
  return own
}
