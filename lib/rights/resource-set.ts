/** Methods that a Set has on newer versions of Node, and that TypeScript then expects of a ReadonlySet. */
const SET_ALGEBRA = [
  'union',
  'intersection',
  'difference',
  'symmetricDifference',
  'isSubsetOf',
  'isSupersetOf',
  'isDisjointFrom',
]

/**
 * A set that nobody can change. Object.freeze does not stop `add`, so this is no Set but holds one. What it holds can
 * be looked at, and compared, in its list.
 */
export class ImmutableSet<T> implements ReadonlySet<T> {
  /** Each item once, in the order in which they came. */
  readonly items: readonly T[]

  readonly #set: ReadonlySet<T>

  static {
    for (const name of SET_ALGEBRA.filter((method) => method in Set.prototype)) {
      const value = function (this: ImmutableSet<unknown>, other: unknown): unknown {
        return Reflect.apply(Reflect.get(Set.prototype, name), this.#set, [other])
      }
      Object.defineProperty(ImmutableSet.prototype, name, { value })
    }
    Object.freeze(ImmutableSet.prototype)
  }

  constructor(items: Iterable<T>) {
    this.#set = new Set(items)
    this.items = Object.freeze([...this.#set])
    Object.freeze(this)
  }

  get size(): number {
    return this.#set.size
  }

  has(item: T): boolean {
    return this.#set.has(item)
  }

  forEach(callback: (item: T, again: T, set: ReadonlySet<T>) => void, thisArg?: unknown): void {
    for (const item of this.#set) callback.call(thisArg, item, item, this)
  }

  entries(): SetIterator<[T, T]> {
    return this.#set.entries()
  }

  keys(): SetIterator<T> {
    return this.#set.keys()
  }

  values(): SetIterator<T> {
    return this.#set.values()
  }

  [Symbol.iterator](): SetIterator<T> {
    return this.#set.values()
  }

  toJSON(): readonly T[] {
    return this.items
  }

  get [Symbol.toStringTag](): string {
    return 'ImmutableSet'
  }
}
