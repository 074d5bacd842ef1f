import type { TestContext } from 'node:test'
import { clock } from '../../lib/remote/clock.ts'

/** Lets ages go by the Date that the test moves, until it ends: mock timers move no monotonic clock. */
export function ageByDate(t: TestContext): void {
  t.mock.method(clock, 'now', () => Date.now())
}
