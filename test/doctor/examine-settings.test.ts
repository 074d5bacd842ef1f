import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cureOf, examineSettings } from '../../lib/doctor/examine-file.ts'
import { loadSettings } from '../../lib/settings/load-settings.ts'
import type { AuthOptions } from '../../lib/settings/options.ts'

const publicKeysUrl = 'http://a.test/keys'

/** Options that together cause every warning. */
const WARNED: readonly AuthOptions[] = [
  {},
  { devMode: true },
  { superuserResource: 'a:b' },
  { publicKeysUrl, tenants: 'http://a.test/', confirmation: 'ignore' },
]

for (const options of WARNED) {
  test(`each warning of ${JSON.stringify(options)} has a cure`, () => {
    const findings = examineSettings(loadSettings(options))
    assert.notEqual(findings.length, 0)
    for (const { level, what, cure } of findings) {
      assert.equal(level, 'warning')
      assert.notEqual(cure, 'see the option in the README', what)
    }
  })
}

test('a warning that is not known here leads to the README', () => {
  assert.equal(cureOf('something new'), 'see the option in the README')
})
