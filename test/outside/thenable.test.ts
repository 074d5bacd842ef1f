import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ignoreRejection, isThenable } from '../../lib/outside/now-or-later.ts'

/** A promise of another library. */
const THENABLE = Object.defineProperty({}, 'then', { value: () => {} })

test('a promise of any library is recognized', () => {
  assert.equal(isThenable(Promise.resolve()), true)
  assert.equal(isThenable(THENABLE), true)
})

for (const value of [undefined, null, 0, '', 'then', {}, [], () => {}, JSON.parse('{"then":1}')]) {
  test(`${typeof value} ${JSON.stringify(value)} is not a promise, and may be ignored`, () => {
    assert.equal(isThenable(value), false)
    ignoreRejection(value)
  })
}

test('an ignored rejection does not reach the process', async (t) => {
  const unhandled = t.mock.fn()
  process.on('unhandledRejection', unhandled)
  t.after(() => process.off('unhandledRejection', unhandled))
  ignoreRejection(Promise.reject(new Error('on purpose')))
  ignoreRejection(Promise.resolve())
  for (let round = 0; round < 3; round++) await new Promise(setImmediate)
  assert.equal(unhandled.mock.callCount(), 0)
})
