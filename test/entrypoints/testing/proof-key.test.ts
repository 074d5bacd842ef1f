import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runChild } from '../../helpers/processes/child.ts'

test('a key is made without a hang, whenever garbage is collected', async () => {
  const made = await runChild('collected-keys', [], ['--expose-gc'], 30_000)
  assert.deepEqual(made, { parts: 3, forged: 'EC,OKP,RSA' })
})
