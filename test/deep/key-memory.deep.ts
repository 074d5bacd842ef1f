import assert from 'node:assert/strict'
import { test } from 'node:test'
import { numberOf, runChild } from '../helpers/processes/child.ts'
import { type FaultName, KeyServer } from '../helpers/servers/key-server.ts'
import { KEY } from '../helpers/tokens/probe.ts'

const MEGABYTE = 1024 * 1024
const GOOD = 20
const BAD = 5

const faults: FaultName[] = [
  'a huge body',
  'a huge body in gzip',
  'a huge body in deflate',
  'a huge body in brotli',
  'a huge body in gzip twice',
  'a huge failure',
  '20 000 keys',
  'deep nesting',
]

for (const fault of faults) {
  test(`${fault} takes no more than 30 MB, however often it comes`, async (t) => {
    let asked = 0
    const server: KeyServer = await KeyServer.start(() => {
      asked += 1
      if (asked > GOOD) void server.fail(fault)
      return { keys: [KEY.publicJwk] }
    })
    t.after(() => server.close())
    const args = [server.url, String(GOOD), String(BAD)]
    const printed = await runChild('key-memory', args, ['--expose-gc'], 600_000)
    assert.equal(printed['failed'], BAD)
    assert.equal(printed['ready'], true)
    const grown = numberOf(printed, 'grown') / MEGABYTE
    t.diagnostic(`${fault}: ${grown.toFixed(1)} MB`)
    assert.ok(grown <= 30, `grown by ${grown.toFixed(1)} MB`)
  })
}
