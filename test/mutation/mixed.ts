import { digest } from './compiled.ts'

/**
 * The items of all groups in an order of chance, which the seed decides. Each beginning of it holds
 * as much of each group as the whole does.
 */
export function mixed<T extends { readonly id: string }>(
  groups: readonly (readonly T[])[],
  seed: string,
): T[] {
  return groups
    .flatMap((group) => {
      const drawn = group.map((item) => ({ item, lot: digest(seed, item.id) }))
      drawn.sort((a, b) => (a.lot < b.lot ? -1 : 1))
      return drawn.map(({ item, lot }, index) => ({ item, lot, place: index / group.length }))
    })
    .sort((a, b) => a.place - b.place || (a.lot < b.lot ? -1 : 1))
    .map(({ item }) => item)
}
