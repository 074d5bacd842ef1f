import { ERR_AUTH_CONFIG_INVALID } from '../errors.ts'
import { nearestName } from './look-alike.ts'
import { showName, showPath, showValue } from './shown-value.ts'

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
