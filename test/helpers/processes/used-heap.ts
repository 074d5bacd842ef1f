import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Bytes of the heap that are in use after collections. One collection leaves what another thread is
 * looking at.
 */
export function usedHeap(): number {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect !== 'function') return assert.fail('gc is no function')
  for (let i = 0; i < 3; i++) collect()
  return process.memoryUsage().heapUsed
}

/** The same after turns of the event loop, in which requests let go of what they still hold. */
export async function settledHeap(): Promise<number> {
  for (let i = 0; i < 2; i++) {
    await setImmediate()
    usedHeap()
  }
  await setImmediate()
  return usedHeap()
}
