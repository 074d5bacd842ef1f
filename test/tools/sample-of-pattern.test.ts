import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sampleOfPattern } from '../../lib/tools/sample-of-pattern.ts'

const FOUND: readonly [pattern: string, sample: string][] = [
  ['abc', 'abc'],
  ['^abc$', 'abc'],
  ['\\d+', '1'],
  ['\\d{4}-\\d{2}', '1111-11'],
  ['[a-f0-9]{3,}', 'aaa'],
  ['[^a]', '1'],
  ['[\\]x]', 'x'],
  ['(?:a|b/c)', 'a'],
  ['(?<year>\\d{2}){2}x*', '1111x'],
  ['((a)(b))?', 'ab'],
  ['a\\.b\\/c', 'a.b/c'],
  ['\\w+?\\b', 'a'],
  ['x{0}y', 'y'],
  ['(?=a)a(?<!b)', 'a'],
  ['(a[)]b)', 'a)b'],
  ['(\\))', ')'],
  ['.+', 'a'],
  ['ü', 'ü'],
  ['a{2,}|(b|c)', 'aa'],
  ['(?:a|(b|c))d', 'ad'],
  ['\\u0041\\x42', 'AB'],
  ['', ''],
]

test('a sample is the first text that an expression matches', () => {
  assert.deepEqual(
    FOUND.map(([pattern]) => [pattern, sampleOfPattern(pattern)]),
    FOUND,
  )
})

test('where no sample is found, there is none', () => {
  for (const pattern of ['(', '(?!a)a', '(a)\\1', '[^\\s\\S]', 'a(?=b)', '(a']) {
    assert.equal(sampleOfPattern(pattern), undefined, pattern)
  }
})

test('a sample is bounded', () => {
  assert.equal(sampleOfPattern('a{1000000}'), undefined)
  assert.equal(sampleOfPattern('a{3}')?.length, 3)
})
