import assert from 'node:assert/strict'
import { test } from 'node:test'
import { numberOf, runChild } from '../helpers/processes/child.ts'

/** What one entry may cost on average, with any token, claims and rights. */
const BYTES_PER_ENTRY = 8 * 1024

const KINDS: readonly [what: string, kind: string, count: number, tokenCacheSize: number][] = [
  ['that come after 15 000 blanks', 'blanks', 2000, 1000],
  ['of 50 tenants, all of which are visited by long URLs', 'tenants', 100, 100],
  ['of 10 000 tenants', 'wide', 12, 1000],
  ['of claims that have each a shape of its own', 'shapes', 100, 500],
]

for (const [what, kind, count, tokenCacheSize] of KINDS) {
  test(`tokens ${what} keep at most 8 KiB alive for each entry of the cache`, async (t) => {
    const args = [kind, String(count), String(tokenCacheSize)]
    const printed = await runChild('kept-tokens', args)
    const grown = numberOf(printed, 'grown')
    const entries = numberOf(printed, 'entries')
    t.diagnostic(`${(grown / 1024).toFixed(0)} KiB for ${entries} of ${count} tokens`)
    assert.ok(grown <= tokenCacheSize * BYTES_PER_ENTRY, `grown by ${grown} bytes`)
    assert.ok(entries > 0, 'none is kept')
  })
}
