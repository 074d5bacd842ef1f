import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Measurements } from './measurements.ts'
import type { Measured } from './orders.ts'

const MEGABYTE = 1024 * 1024

/** What a process holds from the begin to the end, and what is reported of it. */
const CASES: readonly {
  readonly says: string
  /** @param done from 0 to 1 */
  readonly held: (done: number) => Partial<Measured>
  readonly troubles: readonly string[]
}[] = [
  { says: 'what stays as it is is no trouble', held: () => ({}), troubles: [] },
  {
    says: 'a heap that grows is reported',
    held: (done) => ({ heap: (20 + 8 * done) * MEGABYTE }),
    troubles: ['the heap of process 0 has grown by 5.6 MB'],
  },
  {
    says: 'a heap that holds more entries may grow for these',
    held: (done) => ({ heap: (20 + 8 * done) * MEGABYTE, entries: Math.round(10_000 * done) }),
    troubles: [],
  },
  {
    says: 'a heap that holds more users may grow for these',
    held: (done) => ({ heap: (20 + 8 * done) * MEGABYTE, users: Math.round(5000 * done) }),
    troubles: [],
  },
  {
    says: 'a burst is no growth',
    held: (done) => ({ heap: (done === 0.9 ? 90 : 20) * MEGABYTE }),
    troubles: [],
  },
  {
    says: 'handles that become more are reported',
    held: (done) => ({ handles: { TCPSocketWrap: Math.round(100 * done) } }),
    troubles: ['process 0 has 88 handles of type TCPSocketWrap'],
  },
]

describe('what a soak reports of the memory of a process', () => {
  for (const { says, held, troubles } of CASES) {
    it(says, async () => {
      let done = 0
      const measurements = new Measurements([
        {
          async measure() {
            return { heap: 20 * MEGABYTE, rss: 0, handles: {}, entries: 0, users: 0, ...held(done) }
          },
        },
      ])
      for (let step = 0; step <= 40; step++) {
        done = step / 40
        await measurements.take(done)
      }
      assert.deepEqual(measurements.troubles(), troubles)
    })
  }
})
