import assert from 'node:assert/strict'
import { test } from 'node:test'
import { meantKey } from '../../lib/routes/declaration-keys.ts'

/** A word, and the name that it is a slip of. */
const SLIPS: readonly [word: string, meant: string | undefined][] = [
  ['Tenant', 'tenant'],
  ['ten_ant', 'tenant'],
  ['tenants', 'tenant'],
  ['tenantss', undefined],
  ['tenant', undefined],
  ['require', undefined],
  ['require_any_of', 'require'],
  ['requiresEach', 'require'],
  ['requireAnything', undefined],
  ['notRequired', undefined],
  ['Resources', 'resources'],
  ['authorisation', 'authorization'],
  ['max', undefined],
]

for (const [word, meant] of SLIPS) {
  test(`${word} is a slip of ${meant ?? 'no name'}`, () => {
    assert.equal(meantKey(word), meant)
  })
}
