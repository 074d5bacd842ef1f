import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  doubtful,
  fine,
  spellingDifference,
  wrong,
} from '../../../../lib/entrypoints/cli/doctor/finding.ts'

test('a finding is fit for a terminal: what moves its cursor is shown by numbers', () => {
  const odd = 'a\u001b[2J\u009b\u202e\nb'
  const plain = 'a\\u001b[2J\\u009b\\u202e\\u000ab'
  assert.deepEqual(fine(odd), { level: 'ok', what: plain })
  assert.deepEqual(doubtful(odd, odd), { level: 'warning', what: plain, cure: plain })
  assert.deepEqual(wrong(odd, odd), { level: 'wrong', what: plain, cure: plain })
})

const PAIRS: readonly [one: string, other: string, difference: string | null][] = [
  ['https://a.test', 'https://a.test', null],
  ['https://a.test', 'https://b.test', null],
  ['https://a.test', 'https://a.test/x', null],
  ['https://a.test', 'https://a.test/', 'a trailing slash'],
  ['https://a.test', 'http://a.test', 'http and https'],
  ['https://a.test/Realm', 'https://a.test/realm', 'upper and lower case'],
  ['https://a.test', ' https://a.test', 'white space'],
  ['https://a.test:443/x', 'https://a.test/x', 'the usual port'],
  ['http://A.test/', 'https://a.test', 'upper and lower case, http and https, a trailing slash'],
]

for (const [one, other, difference] of PAIRS) {
  test(`"${one}" and "${other}" differ in ${difference ?? 'no spelling'}`, () => {
    assert.equal(spellingDifference(one, other), difference)
    assert.equal(spellingDifference(other, one), difference)
  })
}

/** Names that nobody writes, and that a server may give itself. */
const UNITS = ['/', ' ', 'a', '/a', ':443', ':443/', 'http:', 'A/', '\t', '\n', '//?']

for (const unit of UNITS) {
  test(`four times as many of ${JSON.stringify(unit)} cost about four times as much`, () => {
    const cost = (length: number) => {
      const text = unit.repeat(length / unit.length)
      const began = process.cpuUsage()
      spellingDifference(`https://a.test${text}x`, `https://b.test${text}`)
      spellingDifference(`${text}x`, `${text}/`)
      const { user, system } = process.cpuUsage(began)
      return user + system
    }
    cost(30_000)
    const [short, long] = [cost(30_000), cost(120_000)]
    assert.ok(long < 8 * short + 100_000, `${long} µs, and ${short} µs for a quarter`)
  })
}
