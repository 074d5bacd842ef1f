import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readUserInfo } from '../../../lib/identity/jwt/user-info.ts'
import { isTooComplex, keptBytes } from '../../../lib/platform/runtime/json-complexity.ts'
import { usedHeap } from '../../helpers/processes/used-heap.ts'

for (const mark of ['[', '{', ',']) {
  test(`64 times ${mark} is accepted, and 65 times is too complex`, () => {
    const text = (times: number) => `x${`${mark}x`.repeat(times)}`
    assert.deepEqual([isTooComplex(text(64)), isTooComplex(text(65))], [false, true])
  })
}

test('marks of each kind count together', () => {
  assert.deepEqual([isTooComplex('[{,'.repeat(21)), isTooComplex('[{,'.repeat(22))], [false, true])
})

let serial = 0
const name = () => `n${(serial++).toString(36)}`
const list = (length: number, item: () => string) => `[${Array.from({ length }, item).join(',')}]`
const object = (length: number, value: string) =>
  `{${Array.from({ length }, () => `"${name()}":${value}`).join(',')}}`

/** Claims of each kind, as JSON. Claims with a shape of their own cost most. */
const KINDS: readonly [what: string, json: () => string][] = [
  ['few claims', () => `{"sub":"${name()}","iss":"https://a.test","exp":1800000000}`],
  ['a long text', () => `{"sub":"${'x'.repeat(3000)}${name()}"}`],
  ['a long text of other letters', () => `{"sub":"${'狸'.repeat(3000)}${name()}"}`],
  ['short texts', () => `{"sub":"u","x":${list(300, () => `"${name()}"`)}}`],
  ['fractions', () => `{"sub":"u","x":${list(300, () => '0.5')}}`],
  ['fractions among others', () => `{"sub":"u","x":${list(300, () => '0.5,null')}}`],
  ['empty lists', () => `{"sub":"u","x":${list(300, () => '[]')}}`],
  ['empty objects', () => `{"sub":"u","x":${list(300, () => '{}')}}`],
  ['nested lists', () => `{"sub":"u","x":${'['.repeat(60)}${']'.repeat(60)}}`],
  ['tenants of its own', () => `{"sub":"u","resources":${object(100, '["a:b"]')}}`],
  ['thousands of tenants of its own', () => `{"sub":"u","resources":${object(3000, '[]')}}`],
  ['claims of its own', () => `{"sub":"u",${object(100, '0').slice(1)}`],
  ['objects of a shape of their own', () => `{"sub":"u","x":${list(100, () => object(1, '0'))}}`],
]

const SAMPLES = 300

/** Bytes that the process may need for itself meanwhile. */
const NOISE = 500_000

for (const [what, json] of KINDS) {
  test(`claims with ${what} need no more memory than is estimated`, () => {
    const kept: unknown[] = [readUserInfo(JSON.parse(json()))]
    let said = 0
    const before = usedHeap()
    for (let i = 0; i < SAMPLES; i++) {
      const claims = readUserInfo(JSON.parse(json()))
      said += keptBytes(claims)
      kept.push(claims)
    }
    const grown = usedHeap() - before
    assert.equal(kept.length, SAMPLES + 1)
    assert.ok(grown <= said + NOISE, `${grown} bytes, and ${said} are estimated`)
  })
}
