import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DenialTable } from '../../lib/deny-list/denial-table.ts'
import { HeldDenial } from '../../lib/deny-list/held-denial.ts'

const stairs = [
  new HeldDenial({ names: ['a', null, null, null], issuedBefore: 0, until: Date.now() + 10_000 }),
]

test('a table holds what is set, and lets go what is empty, while entries come and go', () => {
  const table = new DenialTable()
  const held = new Set<string>()
  for (let i = 0; i < 30_000; i++) {
    table.set(`key-${i}`, stairs)
    held.add(`key-${i}`)
    if (i % 3 !== 0) {
      table.set(`key-${i - 1}`, [])
      held.delete(`key-${i - 1}`)
    }
  }
  assert.equal(table.size, held.size)
  for (let i = 0; i < 30_000; i++) {
    assert.equal(table.get(`key-${i}`), held.has(`key-${i}`) ? stairs : undefined)
  }
})
