import type { MockTimersOptions, TestContext } from 'node:test'
import { clock } from '../../../lib/platform/runtime/clock.ts'

/**
 * Lets ages follow the Date that the test moves, until the test ends. Mock timers move no monotonic
 * clock. The method is assigned, because a mocked method keeps a record of each call, and a
 * property test makes millions.
 */
export function ageByDate(t: TestContext): void {
  clock.now = () => Date.now()
  t.after(() => Reflect.deleteProperty(clock, 'now'))
}

/** Stops the clocks that are named. The test moves them, and ages with them. */
export function holdTime(t: TestContext, options: MockTimersOptions): void {
  t.mock.timers.enable(options)
  ageByDate(t)
}
