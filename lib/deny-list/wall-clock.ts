import { clock } from '../outside/clock.ts'

/** Milliseconds by which both clocks may drift apart between two looks. */
const DRIFT = 2000

/** Tells whether the wall clock was set. */
export class WallClock {
  #apart = Date.now() - clock.now()

  /** Whether it was set since the last look. */
  wasSet(): boolean {
    const apart = Date.now() - clock.now()
    const moved = Math.abs(apart - this.#apart)
    this.#apart = apart
    return moved > DRIFT
  }
}
