import assert from 'node:assert/strict'
import { badlySignedToken, freshToken, unknownKeyToken } from '../../servers/key-outage.ts'
import { encode, partsOf } from '../../tokens/forge.ts'
import { goodToken, openProbe } from '../../tokens/probe.ts'
import { filledCaches } from '../filled-caches.ts'
import { settledHeap } from '../used-heap.ts'

/**
 * Prints how much the heap and the token cache grow with many distinct tokens. Arguments: `good`
 * or `bad`, and how many.
 */
const [kind = '', count = '0'] = process.argv.slice(2)

let serial = 0
const ago = Math.floor(Date.now() / 1000) - 100

const bad: (() => string)[] = [
  badlySignedToken,
  unknownKeyToken,
  () => goodToken({ exp: ago, jti: `${serial}` }),
  () => goodToken({ iss: `https://other-${serial}.test` }),
  () => goodToken({ sub: '', jti: `${serial}` }),
  () => goodToken({ resources: { [`tenant-${serial}`]: 'no list' } }),
  () => goodToken({ jti: `${serial}` }, { typ: `other-${serial}` }),
  () => goodToken({ jti: `${serial}` }, { kid: serial }),
  () => `${partsOf(freshToken())[0]}.${encode(`no JSON ${serial}`)}.AAAA`,
  () => `${serial}.${'A'.repeat(4000)}.AAAA`,
]

const next = () => {
  serial += 1
  return kind === 'good' ? freshToken() : (bad[serial % bad.length] ?? freshToken)()
}

const probe = await openProbe()
const expected = kind === 'good' ? 200 : 401

async function ask(tokens: number): Promise<void> {
  for (let i = 0; i < tokens; i++) {
    assert.equal((await probe.ask(next())).statusCode, expected)
    // The lines of the log belong to the test, so they are let go.
    probe.log.length = 0
  }
}

const entries = () => [...filledCaches].reduce((sum, cache) => sum + cache.size, 0)

assert.equal((await probe.ask(freshToken())).statusCode, 200)
await ask(500)
const before = { heap: await settledHeap(), entries: entries() }
await ask(Number(count))
const after = { heap: await settledHeap(), entries: entries() }
await probe.app.close()

process.stdout.write(
  JSON.stringify({
    grown: after.heap - before.heap,
    entriesBefore: before.entries,
    entriesAfter: after.entries,
    prototype: Reflect.ownKeys(Object.prototype).length,
  }),
)
