import type { TokenInfo } from '../tokens/token-info.ts'
import { DenialTable, type Stairs } from './denial-table.ts'
import { type Denial, NAMES } from './deny-entry.ts'
import type { HeldDenial } from './held-denial.ts'

/**
 * Finds the entries that fit a token, at the price of one look for each set of names that
 * occurs, such as `sub` with `issuer`, however many entries there are.
 */
export class DenialIndex {
  /** By the names that are set. */
  readonly #tables = new Map<string, DenialTable>()

  /** Those of the same names. */
  get({ names }: Denial): Stairs {
    const shape = shapeOf(names)
    return this.#tables.get(shape)?.get(keyOf(names, shape)) ?? []
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
      const stairs = lacks(names, shape) ? undefined : table.get(keyOf(names, shape))
      // The first that has not ended reaches farther than all that follow it.
      if (stairs?.find(({ hasEnded }) => !hasEnded)?.fits(issuedAt)) return true
    }
    return false
  }

  #set({ names }: Denial, stairs: Stairs): void {
    const shape = shapeOf(names)
    const table = this.#tables.get(shape) ?? new DenialTable()
    table.set(keyOf(names, shape), stairs)
    if (table.size > 0) this.#tables.set(shape, table)
    else this.#tables.delete(shape)
  }
}

/** Such as `0011`: which of `NAMES` are set. */
function shapeOf(names: readonly (string | null)[]): string {
  return names.map((name) => (name === null ? '0' : '1')).join('')
}

/** Whether one of the names of a shape is not there. */
function lacks(names: readonly (string | null)[], shape: string): boolean {
  return names.some((name, i) => name === null && shape[i] === '1')
}

/** All names of a shape in one text. They are quoted, so that no name runs into the next. */
function keyOf(names: readonly (string | null)[], shape: string): string {
  return names.map((name, i) => (shape[i] === '1' ? JSON.stringify(name) : '')).join()
}
