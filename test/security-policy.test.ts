import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

const policy = readFileSync(new URL('../.github/SECURITY.md', import.meta.url), 'utf8')
const promised = policy.slice(
  policy.indexOf('## What is promised'),
  policy.indexOf('## What is not promised'),
)
const rows = promised
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.includes('held by'))

test('every promise of the security policy names the tests that hold it', () => {
  assert.ok(rows.length >= 15, `only ${rows.length} promises were found`)
  for (const row of rows) {
    const files = [...row.matchAll(/`(test\/[\w./-]+)`/g)].map(([, file = '']) => file)
    assert.ok(files.length > 0, row)
    for (const file of files) assert.ok(existsSync(new URL(`../${file}`, import.meta.url)), file)
  }
})
