import assert from 'node:assert/strict'
import { test } from 'node:test'
import { numberOf, runChild } from '../helpers/processes/child.ts'

const MEGABYTE = 1024 * 1024
const TOKENS = 20_000

/** The default of `tokenCacheSize`, and what one entry may cost. */
const ENTRIES = 10_000
const BYTES_PER_ENTRY = 4 * 1024

async function heapAfter(kind: 'good' | 'bad') {
  const printed = await runChild('token-heap', [kind, String(TOKENS)], [], 600_000)
  assert.equal(printed['prototype'], Reflect.ownKeys(Object.prototype).length)
  return printed
}

test('20 000 distinct bad tokens add nothing to the cache, and at most 10 MB to the heap', async (t) => {
  const printed = await heapAfter('bad')
  const grown = numberOf(printed, 'grown')
  t.diagnostic(`heap: ${(grown / MEGABYTE).toFixed(1)} MB`)
  assert.ok(grown <= 10 * MEGABYTE, `grown by ${grown} bytes`)
  assert.equal(printed['entriesBefore'], 1, 'the good token that went before')
  assert.equal(printed['entriesAfter'], 1)
})

test('20 000 distinct good tokens keep the cache within its bounds', async (t) => {
  const printed = await heapAfter('good')
  const grown = numberOf(printed, 'grown')
  t.diagnostic(`heap: ${(grown / MEGABYTE).toFixed(1)} MB for ${printed['entriesAfter']} tokens`)
  assert.equal(printed['entriesAfter'], ENTRIES)
  assert.ok(grown <= ENTRIES * BYTES_PER_ENTRY, `grown by ${grown} bytes`)
})
