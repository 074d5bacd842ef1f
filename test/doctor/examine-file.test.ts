import assert from 'node:assert/strict'
import { test } from 'node:test'
import { examineLoaded, problemsIn } from '../../lib/doctor/examine-file.ts'
import { loadSettings } from '../../lib/settings/load-settings.ts'

test('a defect is no problem of a configuration: it is thrown', () => {
  assert.throws(() => problemsIn(new TypeError('a defect')), { message: 'a defect' })
})

test('issuers that a function knows cannot be asked', async () => {
  const loaded = loadSettings({ issuers: () => null, audience: 'api' })
  assert.deepEqual(await examineLoaded(loaded), [])
})
