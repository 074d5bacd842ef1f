import assert from 'node:assert/strict'
import { test } from 'node:test'
import { denyList, proofTable } from '../../../lib/entrypoints/revocation/index.ts'
import { createTestAuthority } from '../../../lib/entrypoints/testing/index.ts'
import { tenantAuth } from '../../../lib/index.ts'
import { printColdStart } from './fresh-process.ts'
import { measure } from './measure.ts'
import { rowsOf } from './rows.ts'

const setup = {
  tenantAuth,
  denyList,
  proofTable,
  authority: await createTestAuthority(),
  tokens: 10,
}

for (const { name, sizes, series } of rowsOf(setup)) {
  test(`the row ${name} is measured in figures`, async () => {
    const smallest = sizes.slice(0, 2).map((size) => Math.min(size, 100))
    for await (const { what, sizes: built, close } of series(smallest)) {
      for (const growth of await measure(built, { rounds: 1, slice: 1 })) {
        assert.equal(Number.isFinite(growth.ratio), true, `${what} ${growth.size}`)
        assert.equal(Number.isFinite(growth.growth), true, `${what} ${growth.size}`)
        assert.equal(Number.isFinite(growth.bytes ?? 0), true, `${what} ${growth.size}`)
      }
      await close?.()
    }
  })
}

test('a cold start is measured, and answers all', async () => {
  const lines: string[] = []
  await printColdStart(setup, (line) => void lines.push(line), { atOnce: 100, inTurn: 50 })
  assert.deepEqual(
    lines.map((line) => line.replace(/\d+ ms$/, 'in time')),
    [
      'cold start, 100 tenants, an issuer each: all 200 in in time',
      'cold start, 100 users under resourcesOf: all 200 in in time',
      'issuers in turn, 50: each asked for once, 0 bytes each',
    ],
  )
})
