import assert from 'node:assert/strict'
import { test } from 'node:test'
import { valuesIn } from '../../lib/declaration/declared-keys.ts'

const NONE = Array.from({ length: 6 }, () => undefined)

test('the values of our keys are told in one order, and no others', () => {
  const config = { require: 'a:b', tenant: true, noauth: false, max: 3 }
  assert.deepEqual(valuesIn(config), [false, true, undefined, undefined, undefined, 'a:b'])
  assert.deepEqual(valuesIn({ max: 3 }), NONE)
})

test('a value that is inherited, or that a getter gives, is none', () => {
  assert.deepEqual(valuesIn(Object.create({ noauth: true })), NONE)
  const config = {
    get noauth() {
      return true
    },
  }
  assert.deepEqual(valuesIn(config), NONE)
})
