import assert from 'node:assert/strict'
import { test } from 'node:test'
import { numberOf, runChild } from '../helpers/processes/child.ts'

for (const configuration of ['one issuer', 'several issuers']) {
  test(`each request of a stranger costs less than two forged signatures: ${configuration}`, async (t) => {
    const uncounted = { NODE_V8_COVERAGE: '' }
    const printed = await runChild('stranger-cost', [configuration], [], 120_000, uncounted)
    assert.equal(Object.keys(printed).length > 30, true, 'every request is measured')
    for (const which of Object.keys(printed)) {
      const ratio = numberOf(printed, which)
      t.diagnostic(`${ratio.toFixed(2)}: ${which}`)
      assert.ok(ratio <= 2, `${which}: ${ratio.toFixed(2)} forged signatures`)
    }
  })
}
