import type { TokenInfo } from '../tokens/token-info.ts'
import { type Denial, NAMES } from './deny-entry.ts'
import type { HeldDenial } from './held-denial.ts'

/** Entries of the same names: the latest `issuedBefore` first, and each ends later than the last. */
type Stairs = HeldDenial[]

/**
 * Finds the entries that fit a token, at the price of one `Map.get` for each set of names that
 * occurs, such as `sub` with `issuer`, however many entries there are.
 */
export class DenialIndex {
  /** By the names that are set. */
  readonly #tables = new Map<string, Map<string, Stairs>>()

  /** Those of the same names. */
  get({ names }: Denial): readonly HeldDenial[] {
    return this.#tables.get(shapeOf(names))?.get(keyOf(names, shapeOf(names)) ?? '') ?? []
  }

  add(denial: HeldDenial): void {
    const stairs = [...this.get(denial), denial]
    this.#set(
      denial,
      stairs.sort((a, b) => (a.issuedBefore < b.issuedBefore ? 1 : -1)),
    )
  }

  delete(denial: HeldDenial): void {
    this.#set(
      denial,
      this.get(denial).filter((other) => other !== denial),
    )
  }

  has(token: TokenInfo): boolean {
    const names = NAMES.map((name) => token[name])
    const issuedAt = token.issuedAt?.getTime()
    for (const [shape, table] of this.#tables) {
      const key = keyOf(names, shape)
      const stairs = key === undefined ? undefined : table.get(key)
      // The first that has not ended reaches farther than all that follow it.
      if (stairs?.find(({ hasEnded }) => !hasEnded)?.fits(issuedAt)) return true
    }
    return false
  }

  #set({ names }: Denial, stairs: Stairs): void {
    const shape = shapeOf(names)
    const key = keyOf(names, shape) ?? ''
    const table = this.#tables.get(shape) ?? new Map<string, Stairs>()
    if (stairs.length > 0) table.set(key, stairs)
    else table.delete(key)
    if (table.size > 0) this.#tables.set(shape, table)
    else this.#tables.delete(shape)
  }
}

/** Such as `0011`: which of `NAMES` are set. */
function shapeOf(names: readonly (string | null)[]): string {
  return names.map((name) => (name === null ? '0' : '1')).join('')
}

/** All names of a shape in one text; undefined where one is lacking. */
function keyOf(names: readonly (string | null)[], shape: string): string | undefined {
  let key = ''
  for (const [i, name] of names.entries()) {
    if (shape[i] === '0') continue
    if (name === null) return undefined
    // With its length before it, no name runs into the next.
    key += `${name.length}:${name}`
  }
  return key
}
