import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mismatch } from '../../../lib/identity/jwt/token-refusal.ts'

test('the expected text is computed when it is read, and not before', () => {
  let readings = 0
  const expected = {
    *[Symbol.iterator]() {
      readings++
      yield 'a'
      yield undefined
    },
  }
  const read = mismatch('iss', expected, 'b')
  assert.equal(readings, 0)
  assert.deepEqual(read(), { of: 'iss', expected: '"a" or nothing', unverified: '"b"' })
  assert.deepEqual(read(), read())
})

test('a second reader gets the texts that the first one got', () => {
  for (const of of [
    ['a', 'b'],
    new Set(['a', 'b']),
    new Map([
      ['a', 1],
      ['b', 1],
    ]).keys(),
  ]) {
    const read = mismatch('iss', of, 'c')
    assert.equal(read().expected, '"a" or "b"')
    assert.equal(read().expected, '"a" or "b"')
  }
})

const FOUND: [what: string, found: unknown, shown: string][] = [
  ['an empty text', '', '""'],
  ['a text that is one of the words', 'nothing', '"nothing"'],
  ['a number', 7, 'a value of type number'],
  ['an empty list', [], '[]'],
  ['a list', ['a', null, 7], '["a", null, a value of type number]'],
  ['a list in a list', [['a']], '[a value of type object]'],
  ['a quote and a line break', 'a"\n', '"a\\"\\n"'],
  ['the first and the last letter of ASCII that can be seen', '!~ ', '"!~ "'],
  ['a letter that no log should have', '\x7f', '"\\u007f"'],
  ['letters of other scripts', 'é狸', '"\\u00e9\\u72f8"'],
  ['a text that just fits', 'x'.repeat(98), `"${'x'.repeat(98)}"`],
  ['a text of one letter more', 'x'.repeat(99), `"${'x'.repeat(96)}...`],
  ['a list that is much too long', Array(5000).fill('x'), `[${'"x", '.repeat(19)}"...`],
]

for (const [what, found, shown] of FOUND) {
  test(`what was found is shown, and no more than 100 letters of it: ${what}`, () => {
    assert.equal(mismatch('iss', ['a'], found)().unverified, shown)
  })
}
