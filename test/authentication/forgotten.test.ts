import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readForgotten } from '../../lib/authentication/forgotten.ts'

for (const what of [{}, { issuer: 'i' }, { sub: 's' }, { issuer: 'i', sub: '' }]) {
  test(`what is forgotten: ${JSON.stringify(what)}`, () => {
    assert.deepEqual(readForgotten(what), what)
  })
}

const MISTAKES: [what: string, given: unknown][] = [
  ['an issuer that is undefined', { issuer: undefined }],
  ['a sub that is undefined', { issuer: 'i', sub: undefined }],
  ['a sub that is null', { sub: null }],
  ['a sub that is a number', { sub: 5 }],
  ['a member that is misspelt', { subject: 's' }],
  ['a member that is not enumerable', Object.defineProperty({}, 'sub', { value: 5 })],
  ['null', null],
  ['a string', 'i'],
  ['a number', 5],
  ['true', true],
  ['a list', ['i']],
]

for (const [what, given] of MISTAKES) {
  test(`${what} is a mistake, and must not mean everybody`, () => {
    assert.throws(() => readForgotten(given), TypeError)
  })
}
