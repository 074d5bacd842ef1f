import assert from 'node:assert/strict'
import { test } from 'node:test'
import { declaredBeside, meantKey, valuesIn } from '../../lib/declaration/declared-keys.ts'

const NONE = Array.from({ length: 6 }, () => undefined)

test('the values of our keys are told in one order, and no others', () => {
  const flags = { authorization: 3, resources: 2, userInfo: 1 }
  const config = { require: 'a:b', ...flags, tenant: true, noauth: false, max: 3 }
  assert.deepEqual(valuesIn(config), [false, true, 1, 2, 3, 'a:b'])
  assert.deepEqual(valuesIn({ max: 3 }), NONE)
})

test('what is declared beside noauth is told, false and undefined apart', () => {
  const others = { tenant: 'x', userInfo: 0, resources: '', authorization: true, require: [] }
  const keys = ['tenant', 'userInfo', 'resources', 'authorization', 'require']
  assert.deepEqual(declaredBeside(new Map(Object.entries({ noauth: true, ...others }))), keys)
  const none = { noauth: true, tenant: false, userInfo: undefined, require: false, max: 3 }
  assert.deepEqual(declaredBeside(new Map(Object.entries(none))), [])
})

for (const [key, meant] of [
  ['requires', 'require'],
  ['Resources', 'resources'],
  ['authorisation', 'authorization'],
  ['require', undefined],
  ['max', undefined],
] as const) {
  test(`${key} is ${meant === undefined ? 'no slip' : `a slip of ${meant}`}`, () => {
    assert.equal(meantKey(key), meant)
  })
}

test('a value that is inherited, or that a getter gives, is none', () => {
  assert.deepEqual(valuesIn(Object.create({ noauth: true })), NONE)
  const config = {
    get noauth() {
      return true
    },
  }
  assert.deepEqual(valuesIn(config), NONE)
})
