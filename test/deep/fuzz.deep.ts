import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { PROPERTY_SEED } from '../helpers/arbitraries/property.ts'
import { tempFolder } from '../helpers/documents/temp-folder.ts'
import { fuzz } from './fuzz/fuzzer.ts'
import { iniTarget, TARGETS } from './fuzz/targets.ts'

/** Seconds for each target. */
const SECONDS = Number(process.env['FUZZ_SECONDS'] ?? 60)

const ini = iniTarget(tempFolder().write('', 'app.ini'))

describe('texts that reach new code are no crash, no hang and no door', () => {
  for (const target of [...TARGETS, ini]) {
    it(target.name, async (t) => {
      const { findings, ...figures } = await fuzz(target, SECONDS, PROPERTY_SEED)
      t.diagnostic(`PROPERTY_SEED=${PROPERTY_SEED}, ${JSON.stringify(figures)}`)
      assert.deepEqual(findings, [])
    })
  }
})
