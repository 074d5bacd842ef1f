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
 * A set that nobody can change. Object.freeze does not stop `add`, so this is no Set but holds one.
 */
export class ImmutableSet<T> implements ReadonlySet<T> {
  readonly #items: ReadonlySet<T>

  static {
    for (const name of SET_ALGEBRA.filter((method) => method in Set.prototype)) {
      const value = function (this: ImmutableSet<unknown>, other: unknown): unknown {
        return Reflect.apply(Reflect.get(Set.prototype, name), this.#items, [other])
      }
      Object.defineProperty(ImmutableSet.prototype, name, { value })
    }
    Object.freeze(ImmutableSet.prototype)
  }

  constructor(items: Iterable<T>) {
    this.#items = new Set(items)
    Object.freeze(this)
  }

  get size(): number {
    return this.#items.size
  }

  has(item: T): boolean {
    return this.#items.has(item)
  }

  forEach(callback: (item: T, again: T, set: ReadonlySet<T>) => void, thisArg?: unknown): void {
    for (const item of this.#items) callback.call(thisArg, item, item, this)
  }

  entries(): SetIterator<[T, T]> {
    return this.#items.entries()
  }

  keys(): SetIterator<T> {
    return this.#items.keys()
  }

  values(): SetIterator<T> {
    return this.#items.values()
  }

  [Symbol.iterator](): SetIterator<T> {
    return this.#items.values()
  }

  toJSON(): T[] {
    return [...this.#items]
  }

  get [Symbol.toStringTag](): string {
    return 'ImmutableSet'
  }
}
