import { settledHeap } from '../../helpers/processes/used-heap.ts'

/** With fewer, the heap's own growth is larger than theirs. */
const ENOUGH = 800

/** What was made, and the memory that each part of it keeps alive. */
export interface Made<T> {
  readonly made: T
  /** Undefined: there are too few for a figure. */
  readonly bytes: number | undefined
}

/** Makes something that has so many parts. */
export async function keptBytes<T>(count: number, make: () => Promise<T>): Promise<Made<T>> {
  if (count < ENOUGH) return { made: await make(), bytes: undefined }
  const before = await bytesNow()
  const made = await make()
  return { made, bytes: ((await bytesNow()) - before) / count }
}

/** V8's heap, and the buffers beside it. Keys of OpenSSL are not seen. */
async function bytesNow(): Promise<number> {
  return (await settledHeap()) + process.memoryUsage().external
}
