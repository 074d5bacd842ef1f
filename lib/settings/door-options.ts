import { isObject } from '../outside/is-object.ts'
import { ownCopy } from '../outside/own-copy.ts'
import { nearestName } from './look-alike.ts'
import { ownMembers } from './own-members.ts'
import { Problems, type Source } from './problems.ts'
import { showName, showValue } from './shown-value.ts'

/** What a member of the options may be. */
export interface Kind<T> {
  readonly expected: string
  /** A secret is never shown. */
  readonly isSecret?: boolean
  /** What the value stands for; null where it is of another kind. */
  read(value: unknown): T | null
}

/** The options of a function of a door. All problems are told at once. */
export class DoorOptions {
  readonly #given: ReadonlyMap<string, unknown>
  readonly #door: string
  readonly #problems = new Problems()

  /** @param door the function that is given the options @param members what it knows */
  constructor(door: string, given: unknown, members: readonly string[]) {
    this.#door = door
    const placeOf = (key: string): Source => ({ key, where: `${door}()` })
    const self = placeOf('options')
    this.#given = isObject(given)
      ? ownMembers(given, self, placeOf, this.#problems)
      : new Map<string, unknown>()
    if (!isObject(given)) this.#problems.add(self, 'an object', showValue(given))
    for (const name of this.#given.keys()) {
      if (!members.includes(name)) this.#refuseUnknown(name, members)
    }
  }

  /** A member that is undefined is given too, so that it is not left out silently. */
  has(name: string): boolean {
    return this.#given.has(name)
  }

  /** Null only where a problem is noted. */
  read<T>(name: string, { expected, isSecret = false, read }: Kind<T>): T | null {
    const value = this.#given.get(name)
    const result = read(value)
    if (result === null) {
      this.refuse(name, expected, isSecret ? `a value of type ${typeof value}` : showValue(value))
    }
    return result
  }

  refuse(name: string, expected: string, found: string, hint?: string): void {
    const source: Source = { key: name, where: `${this.#door}()` }
    this.#problems.add(source, expected, found, hint)
  }

  /** @throws ERR_AUTH_CONFIG_INVALID */
  throwIfAny(): void {
    this.#problems.throwIfAny()
  }

  #refuseUnknown(name: string, members: readonly string[]): void {
    const nearest = nearestName(name, members)
    const source = { key: name, where: `${this.#door}()` }
    // What other software calls so may be a secret: its value is not shown.
    this.#problems.addUnknown(source, members, nearest, `"${showName(name)}"`)
  }
}

/**
 * The options of a function that reads them itself: a copy without a prototype.
 *
 * @throws ERR_AUTH_CONFIG_INVALID
 */
export function plainOptions<T extends object>(
  door: string,
  given: T,
  members: readonly (keyof T & string)[],
): T {
  new DoorOptions(door, given, members).throwIfAny()
  return ownCopy(given)
}
