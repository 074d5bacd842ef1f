import { settledHeap } from '../../helpers/processes/used-heap.ts'

/** With fewer, the heap's own growth is larger than theirs. */
const ENOUGH = 800

/** What is in memory: V8's heap, and the buffers beside it. Keys of OpenSSL are not seen. */
export async function bytesNow(): Promise<number> {
  return (await settledHeap()) + process.memoryUsage().external
}

/** What each of so many keeps alive; undefined: they are too few. */
export async function bytesOfEach(count: number, since: number): Promise<number | undefined> {
  return count < ENOUGH ? undefined : ((await bytesNow()) - since) / count
}
