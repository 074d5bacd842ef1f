import { clock } from '../outside/clock.ts'
import type { HeldDenial } from './held-denial.ts'

/** Milliseconds of one slot: entries that end together leave memory together. */
const SLOT = 10_000

/** Which entries end when. */
export class Endings {
  readonly #slots = new Map<number, Set<HeldDenial>>()
  /** A reading of `clock`: before it no slot is over. */
  #lookAt = Number.POSITIVE_INFINITY

  add(denial: HeldDenial): void {
    denial.slot = slotOf(denial)
    const together = this.#slots.get(denial.slot) ?? new Set()
    this.#slots.set(denial.slot, together.add(denial))
    this.#lookAt = Math.min(this.#lookAt, (denial.slot + 1) * SLOT)
  }

  delete(denial: HeldDenial): void {
    const together = this.#slots.get(denial.slot)
    together?.delete(denial)
    if (together?.size === 0) this.#slots.delete(denial.slot)
  }

  /** Some of those whose slot is over. Costs one comparison where no slot is. */
  takeSome(most: number): HeldDenial[] {
    if (clock.now() < this.#lookAt) return []
    return this.#take((slot) => (slot + 1) * SLOT, most)
  }

  /** All that have ended by now. */
  takeAll(): HeldDenial[] {
    return this.#take((slot) => slot * SLOT, Number.POSITIVE_INFINITY)
  }

  #take(dueAt: (slot: number) => number, most: number): HeldDenial[] {
    const now = clock.now()
    const due = [...this.#slots].filter(([slot]) => dueAt(slot) <= now)
    const ended: HeldDenial[] = []
    for (const [slot, together] of due) {
      for (const denial of together) {
        if (ended.length >= most) return ended
        if (denial.hasEnded) ended.push(denial)
        else if (slotOf(denial) === slot) continue
        this.delete(denial)
        // Its end has moved, because the wall clock was set back.
        if (!denial.hasEnded) this.add(denial)
      }
    }
    const next = [...this.#slots.keys()].reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
    this.#lookAt = (next + 1) * SLOT
    return ended
  }
}

function slotOf(denial: HeldDenial): number {
  return Math.floor(denial.endsAt / SLOT)
}
