// Outside: the clocks of the machine, which are set, stand still, and sleep.

import os from 'node:os'

/** Milliseconds between two looks at how long the machine has slept. */
const LOOK_EVERY = 100

/**
 * Milliseconds of a sleep that counts. What is less may be rounding: a system tells its uptime in
 * hundredths.
 */
const LEAST_SLEEP = 1000

/**
 * Taken at once: a fake clock of an application's tests, which may go backwards, must not age keys.
 */
const monotonic = performance.now.bind(performance)

/**
 * The clock of ages and waits. All ages of this package are differences of two of its readings;
 * only the times of a token (`exp`, `nbf`, `iat`) are read on the wall clock.
 *
 * The wall clock cannot measure an age, because it may be set. The monotonic clock of a process is
 * never set, and counts on while the process is stopped, but on Linux it stands still while the
 * machine sleeps: keys would serve for as much longer. The time since the machine was booted counts
 * its sleep, and is not moved by a clock that is set, which is how the two are told apart. To read
 * it takes 5 µs, a hundred times as long as the monotonic clock. So it is looked at ten times a
 * second at most, and only on demand: what was asleep is known 100 ms after waking at the latest.
 *
 * A virtual machine that its host has stopped has no clock that counts on; its ages stand still
 * too.
 */
export class Clock {
  readonly #awake: () => number
  readonly #sinceBoot: () => number
  /** Of both clocks the difference at the first look. */
  #apart: number | undefined
  #asleep = 0
  #lookAt = Number.NEGATIVE_INFINITY

  /** @param awake milliseconds that stop in sleep @param sinceBoot milliseconds that do not */
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
    // A boot clock that goes backwards, as that of a moved container may, has slept less than it
    // did.
    if (asleep >= this.#asleep + LEAST_SLEEP) this.#asleep = asleep
  }
}

/** The one clock of the package, so that a test can move it. */
export const clock = new Clock()

/** Not a number where the system does not tell; then no sleep is known. */
function millisecondsSinceBoot(): number {
  try {
    return os.uptime() * 1000
  } catch {
    return Number.NaN
  }
}
