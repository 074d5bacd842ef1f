import { type InspectOptions, inspect } from 'node:util'

/**
 * Methods that Set has on newer versions of Node. TypeScript then expects them of a ReadonlySet.
 */
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
 * A set that cannot be changed. Object.freeze does not stop `add`, so this is not a Set but holds
 * one. Its sorted list shows what it holds, for printing and for comparing. All other readings,
 * JSON included, keep the order in which the items came.
 */
export class ImmutableSet<T> implements ReadonlySet<T> {
  /**
   * Each item once, sorted. Two sets with the same items are equal, in any order. Each reading
   * gives a new list.
   */
  declare readonly items: readonly T[]

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
    Object.defineProperty(this, 'items', ImmutableSet.#ITEMS)
    Object.freeze(this)
  }

  /**
   * Each set has its own, so that a comparison sees it. It is sorted late, because most sets are
   * never compared.
   */
  static readonly #ITEMS = {
    enumerable: true,
    get(this: ImmutableSet<unknown>): readonly unknown[] {
      return Object.freeze([...this.#set].sort())
    },
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

  toJSON(): T[] {
    return [...this.#set]
  }

  /** The items for console.log. Without this, a getter would hide them. */
  [inspect.custom](_depth: number, options: InspectOptions): string {
    return `ImmutableSet ${inspect({ ...this }, options)}`
  }

  /** Not `Set`: lodash would make a set of this class, and add to it. */
  get [Symbol.toStringTag](): string {
    return 'ImmutableSet'
  }
}
