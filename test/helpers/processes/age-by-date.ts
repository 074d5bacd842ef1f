import type { TestContext } from 'node:test'
import { clock } from '../../../lib/outside/clock.ts'

/**
 * Lets ages go by the Date that the test moves, until it ends: mock timers move no monotonic clock. By
 * assignment, since a mocked method keeps a record of each call, and a property test makes millions.
 */
export function ageByDate(t: TestContext): void {
  clock.now = () => Date.now()
  t.after(() => Reflect.deleteProperty(clock, 'now'))
}
