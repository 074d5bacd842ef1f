import { isObject } from '../outside/is-object.ts'
import { ownProperty } from '../outside/own-property.ts'
import { nearestName } from '../settings/look-alike.ts'
import { Problems, type Source } from '../settings/problems.ts'
import { showName, showValue } from '../settings/shown-value.ts'

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
  readonly #options: object
  readonly #door: string
  readonly #problems = new Problems()

  /** @param door the function that is given the options @param members what it knows */
  constructor(door: string, given: unknown, members: readonly string[]) {
    this.#door = door
    this.#options = isObject(given) ? given : {}
    for (const name of Object.keys(this.#options)) {
      if (!members.includes(name)) this.#refuseUnknown(name, members)
    }
  }

  /**
   * A member that is inherited, or undefined, is given too, so that it is not left out silently.
   */
  has(name: string): boolean {
    return name in this.#options
  }

  /** Null only where a problem is noted. Own properties alone count. */
  read<T>(name: string, { expected, isSecret = false, read }: Kind<T>): T | null {
    const value = ownProperty(this.#options, name)
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
    const hint = nearest === undefined ? undefined : `did you mean ${nearest}?`
    // What other software calls so may be a secret: its value is not shown.
    this.refuse(name, `one of ${members.join(', ')}`, `"${showName(name)}"`, hint)
  }
}
