/** What was and what became of it; undefined: it is gone, or it is new. */
export type Pair<Item> =
  | readonly [was: Item | undefined, is: Item]
  | readonly [was: Item, is: undefined]

/**
 * Pairs what was with what is: the most alike first, those of equal likeness in their order. What
 * is left over in the end is gone or new.
 *
 * @returns in the order of what is; then what is gone
 */
export function paired<Item>(
  was: readonly Item[],
  is: readonly Item[],
  likeness: (was: Item, is: Item) => number,
): Pair<Item>[] {
  const candidates = is.flatMap((after, to) =>
    was.map((before, from) => ({ from, to, before, fit: likeness(before, after) })),
  )
  const left = new Set(was.keys())
  const found = new Map<number, Item>()
  for (const { from, to, before } of candidates.sort((a, b) => b.fit - a.fit)) {
    if (found.has(to) || !left.has(from)) continue
    found.set(to, before)
    left.delete(from)
  }
  return [
    ...is.map((after, to): Pair<Item> => [found.get(to), after]),
    ...was.filter((_before, from) => left.has(from)).map((gone): Pair<Item> => [gone, undefined]),
  ]
}
