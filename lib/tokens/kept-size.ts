/**
 * Bytes of V8's heap, measured and rounded up. A member counts with its part in a shape that may be
 * its object's own.
 */
const OBJECT = 192
const MEMBER = 128
const LIST = 80
const ITEM = 8
const TEXT = 24
const LETTER = 2
const OTHER = 24

/** Bytes that an item of an immutable set keeps alive, its own aside. */
export const SET_ITEM = 56

/**
 * Bytes of an object of lists that shares names and items with another one.
 *
 * @param more items that each list has beside its own
 */
export function listsSize(lists: readonly (readonly unknown[])[], more: number): number {
  return lists.reduce((size, { length }) => size + MEMBER + LIST + ITEM * (length + more), OBJECT)
}

/**
 * What JSON data keeps alive, in bytes: an estimate, and rather too high, since most objects share
 * their shapes, and most letters need one byte. Of data whose depth is bounded: it recurses.
 */
export function keptSize(value: unknown): number {
  if (typeof value === 'string') return TEXT + LETTER * value.length
  if (typeof value !== 'object' || value === null) return OTHER
  if (Array.isArray(value)) return value.reduce((size, item) => size + ITEM + keptSize(item), LIST)
  return Object.entries(value).reduce(
    (size, [name, member]) => size + MEMBER + keptSize(name) + keptSize(member),
    OBJECT,
  )
}
