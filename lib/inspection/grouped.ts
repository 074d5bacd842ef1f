/** The items of each key, in their order. */
export function grouped<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
): Map<string, Item[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group === undefined) groups.set(keyOf(item), [item])
    else group.push(item)
  }
  return groups
}

/** What was and what became of it; undefined: it is gone, or it is new. */
export type Pair<Item> =
  | readonly [was: Item | undefined, is: Item]
  | readonly [was: Item, is: undefined]

/**
 * Pairs what was with what is: the most alike first, those of equal likeness in their order.
 *
 * @returns in the order of what is; then what is gone
 */
export function paired<Item>(
  was: readonly Item[],
  is: readonly Item[],
  likeness: (was: Item, is: Item) => number,
): Pair<Item>[] {
  const candidates = is.flatMap((after) =>
    was.map((before) => ({ before, after, fit: likeness(before, after) })),
  )
  const left = new Set(was)
  const found = new Map<Item, Item>()
  for (const { before, after } of candidates.sort((a, b) => b.fit - a.fit)) {
    if (!found.has(after) && left.delete(before)) found.set(after, before)
  }
  const gone = [...left].map((before): Pair<Item> => [before, undefined])
  return [...is.map((after): Pair<Item> => [found.get(after), after]), ...gone]
}
