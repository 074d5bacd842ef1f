import assert from 'node:assert/strict'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Bytes of the heap that are in use, after a collection. */
export function usedHeap(): number {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  assert.equal(typeof collect, 'function')
  if (typeof collect === 'function') collect()
  return process.memoryUsage().heapUsed
}
