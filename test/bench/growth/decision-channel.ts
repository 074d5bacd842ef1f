import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { usedHeap } from '../../helpers/processes/used-heap.ts'
import { median } from '../statistics.ts'
import { floor, guarded, type Setup } from './application.ts'
import type { Row, Size, Work } from './measure.ts'
import { asking, asksOf } from './requests.ts'

const CHANNEL = 'fastify-tenant-auth:decision'

/** What one request leaves to the collector stands in place of the memory that is kept. */
export function decisionChannel(setup: Setup): Row {
  return {
    name: 'channel',
    sizes: [0, 1, 10],
    async *series(sizes) {
      const asks = await asksOf(setup.authority, 100)
      const app = await guarded(setup, setup.authority.options)
      const control = await floor()
      const built: Size[] = []
      for (const size of sizes) {
        const subject = heard(asking(app, asks), size)
        await subject(asks.length)
        const bytes = await allocatedBy(subject)
        built.push({ size: `${size}`, subject, control: asking(control, asks), bytes })
      }
      yield {
        what: 'subscribers of the decision channel (bytes of one request)',
        sizes: built,
        isFlat: false,
        async close() {
          await app.close()
          await control.close()
        },
      }
    },
  }
}

/** A channel is the process's own: it is subscribed to while the work is done. */
function heard(work: Work, subscribers: number): Work {
  return async (times) => {
    const heardBy = Array.from({ length: subscribers }, () => {
      let heard = 0
      return () => void heard++
    })
    for (const each of heardBy) subscribe(CHANNEL, each)
    try {
      await work(times)
    } finally {
      for (const each of heardBy) unsubscribe(CHANNEL, each)
    }
  }
}

/** Bytes that work takes, each time. A collection in between spoils some attempts. */
async function allocatedBy(work: Work): Promise<number> {
  const times = 100
  const taken: number[] = []
  for (let attempt = 0; attempt < 5; attempt++) {
    const before = usedHeap()
    await work(times)
    taken.push((process.memoryUsage().heapUsed - before) / times)
  }
  return median(taken)
}
