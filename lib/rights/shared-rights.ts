import { ownText } from '../outside/own-text.ts'
import { MAX_KEPT, Rights } from './rights.ts'

/** Rights of several principals, which share the sets of ids too. */
export class SharedRights extends Rights {
  readonly #ids = new Map<string | null, ReadonlySet<string>>()
  #turn = 0

  /** Changes when sets are let go of, which principals may keep alive. */
  get turn(): number {
    return this.#turn
  }

  override in(tenant: string | null): ReadonlySet<string> {
    const known = this.#ids.get(tenant)
    if (known) return known
    const ids = super.in(tenant)
    if (this.#ids.size >= MAX_KEPT) {
      this.#ids.clear()
      this.#turn += 1
    }
    this.#ids.set(tenant === null ? null : ownText(tenant), ids)
    return ids
  }
}
