import os from 'node:os'

// Outside: the clocks of the machine, which are set, stand still, and sleep.

/** Milliseconds between two looks at how long the machine has slept. */
const LOOK_EVERY = 100

/**
 * Milliseconds from which a sleep counts. Less may be rounding: systems give their uptime in
 * hundredths of a second.
 */
const LEAST_SLEEP = 1000

/**
 * Taken at once: a test of an application may put a fake clock in place later. That clock may go
 * backwards, and must not age keys.
 */
const monotonic = performance.now.bind(performance)

/**
 * The clock of ages and waits. All ages of this package are differences of two of its readings.
 * Only the times of a token (`exp`, `nbf`, `iat`) are read on the wall clock.
 *
 * The wall clock may be set. The monotonic clock never is, but on Linux it stands still while the
 * machine sleeps, so keys would serve too long. The time since boot counts the sleep too: the
 * difference of these two clocks is the sleep. Reading it takes 5 µs, so it is read on demand, and
 * at most ten times a second: a sleep is known at the latest 100 ms after waking.
 *
 * If a host stops a virtual machine, no clock of that machine counts on.
 */
export class Clock {
  readonly #awake: () => number
  readonly #sinceBoot: () => number
  /** The difference of both clocks at the first look. */
  #apart: number | undefined
  #asleep = 0
  #lookAt = Number.NEGATIVE_INFINITY

  /**
   * @param awake milliseconds on a clock that stops in sleep
   * @param sinceBoot milliseconds on a clock that does not stop in sleep
   */
  constructor(awake = monotonic, sinceBoot = millisecondsSinceBoot) {
    this.#awake = awake
    this.#sinceBoot = sinceBoot
  }

  /** Milliseconds since some moment. Never goes backwards. */
  now(): number {
    const awake = this.#awake()
    if (awake >= this.#lookAt) this.#look(awake)
    return awake + this.#asleep
  }

  #look(awake: number): void {
    this.#lookAt = awake + LOOK_EVERY
    const apart = this.#sinceBoot() - awake
    this.#apart ??= apart
    const asleep = apart - this.#apart
    // A boot clock may go backwards, as that of a moved container does. Then the machine has slept
    // less than this clock says.
    if (asleep >= this.#asleep + LEAST_SLEEP) this.#asleep = asleep
  }
}

/** The one clock of the package. A test can move it. */
export const clock = new Clock()

/** Not a number if the system does not give its uptime. Then no sleep is known. */
function millisecondsSinceBoot(): number {
  try {
    return os.uptime() * 1000
  } catch {
    return Number.NaN
  }
}
