import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WATCH, watchOf } from '../../../lib/identity/authentication/revocation-check.ts'

const watch = () => () => {}

test('a function carries its watch as a property of its own', () => {
  assert.equal(watchOf(Object.assign(() => false, { [WATCH]: watch })), watch)
})

const OTHERS: readonly [what: string, value: unknown][] = [
  ['undefined', undefined],
  ['null', null],
  ['a function without a watch', () => false],
  ['a function that inherits one', Object.setPrototypeOf(() => false, { [WATCH]: watch })],
  ['an object with a watch', { [WATCH]: watch }],
]

for (const [what, value] of OTHERS) {
  test(`${what} has no watch`, () => {
    assert.equal(watchOf(value), undefined)
  })
}
