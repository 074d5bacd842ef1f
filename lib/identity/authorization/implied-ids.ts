import { isResourceId } from './resources.ts'

/** For resource ids, those that each of them implies. */
export type Implies = Readonly<Record<string, readonly string[]>>

/** The members that the option `implies` cannot have. */
export function wrongImplied(implies: object): readonly [id: string, ids: unknown][] {
  // An `*` would look like a pattern.
  const isId = (id: unknown) => isResourceId(id) && !id.includes('*')
  return Object.entries(implies).filter(
    // A copy turns holes into `undefined`, which `every` checks.
    ([id, ids]: [string, unknown]) =>
      !(isId(id) && Array.isArray(ids) && ids.length > 0 && [...ids].every(isId)),
  )
}

/** The ids that follow from others. Made once, at boot. */
export class ImpliedIds {
  /** A frozen copy of the option. */
  readonly configured: Implies
  /** For each id, all ids that imply it, through others too. */
  readonly #impliedBy: ReadonlyMap<string, readonly string[]>

  constructor(implies: Implies) {
    const copies = Object.entries(implies).map(
      ([id, ids]) => [id, Object.freeze([...ids])] as const,
    )
    this.configured = Object.freeze(Object.fromEntries(copies))
    const impliedBy = new Map<string, string[]>()
    for (const [id] of copies) {
      for (const each of this.#allFrom(id)) {
        const known = impliedBy.get(each)
        if (known === undefined) impliedBy.set(each, [id])
        else known.push(id)
      }
    }
    this.#impliedBy = impliedBy
  }

  /** True: one of the held ids implies this one. */
  isHeld(id: string, held: Pick<ReadonlySet<string>, 'has'>): boolean {
    return this.#impliedBy.get(id)?.some((each) => held.has(each)) ?? false
  }

  #allFrom(id: string): ReadonlySet<string> {
    // The set grows while it is walked through.
    const found = new Set(this.#directly(id))
    for (const each of found) for (const next of this.#directly(each)) found.add(next)
    return found
  }

  #directly(id: string): readonly string[] {
    return (Object.hasOwn(this.configured, id) && this.configured[id]) || []
  }

  /** The ids that imply themselves. */
  get inCircle(): readonly string[] {
    return Object.keys(this.configured).filter((id) => this.#impliedBy.get(id)?.includes(id))
  }

  implies(id: string): boolean {
    return this.#impliedBy.has(id)
  }
}

Object.freeze(ImpliedIds.prototype)
