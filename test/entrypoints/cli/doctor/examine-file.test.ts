import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadSettings } from '../../../../lib/config/load-settings.ts'
import type { AuthOptions } from '../../../../lib/config/options.ts'
import {
  cureOf,
  examineLoaded,
  examineSettings,
  problemsIn,
} from '../../../../lib/entrypoints/cli/doctor/examine-file.ts'

test('a defect is no problem of a configuration: it is thrown', () => {
  assert.throws(() => problemsIn(new TypeError('a defect')), { message: 'a defect' })
})

test('issuers that a function knows cannot be asked', async () => {
  const loaded = loadSettings({ issuers: () => null, audience: 'api' })
  assert.deepEqual(await examineLoaded(loaded), [])
})

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
