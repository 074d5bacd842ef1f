import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as Type from '@sinclair/typebox'
import { wrongPlace } from '../../lib/config/schema-check.ts'

const Text = Type.String({ minLength: 2, maxLength: 3, pattern: '^a' })
const Pair = Type.Object({ a: Type.Boolean(), b: Type.Optional(Type.Null()) })
const Closed = Type.Object({ a: Type.Boolean() }, { additionalProperties: false })
const Words = Type.Object({}, { additionalProperties: Text })
const Items = Type.Array(Text, { minItems: 1, uniqueItems: true })
const Either = Type.Union([Type.Literal('x'), Type.Number({ minimum: 1, maximum: 2 })])

/** What is wrong with a value stands at its place; undefined: nothing is. */
const CASES = [
  [Text, 'ab', undefined],
  [Text, 'a', ''],
  [Text, 'abcd', ''],
  [Text, 'bc', ''],
  [Text, ['ab'], ''],
  [Pair, { a: true }, undefined],
  [Pair, { a: true, b: undefined, c: 1 }, undefined],
  [Pair, { a: 1 }, '/a'],
  [Pair, Object.create({ a: true }), '/a'],
  [Pair, { a: true, b: 0 }, '/b'],
  [Pair, [true], ''],
  [Pair, null, ''],
  [Closed, { a: true }, undefined],
  [Closed, { a: true, c: 1 }, '/c'],
  [Words, { x: 'ab' }, undefined],
  [Words, { x: 'ab', y: 'b' }, '/y'],
  [Items, ['ab', 'ac'], undefined],
  [Items, [], ''],
  [Items, ['ab', 'ab'], ''],
  [Items, ['ab', 'b'], '/1'],
  [Items, { 0: 'ab', length: 1 }, ''],
  [Either, 'x', undefined],
  [Either, 1, undefined],
  [Either, 2, undefined],
  [Either, 0.9, ''],
  [Either, 2.1, ''],
  [Either, 'y', ''],
  [Type.Number(), Number.NaN, ''],
  [Type.Number(), Number.POSITIVE_INFINITY, ''],
  [Type.Integer({ minimum: 1 }), 1, undefined],
  [Type.Integer({ minimum: 1 }), 1.5, ''],
  [Type.Integer({ minimum: 1 }), 0, ''],
  [Type.Function([], Type.Unknown()), () => 1, undefined],
  [Type.Function([], Type.Unknown()), {}, ''],
  [Type.Unknown(), undefined, undefined],
  [Type.Never(), undefined, ''],
  [Type.Date(), new Date(), ''],
] as const

for (const [index, [schema, value, place]] of CASES.entries()) {
  test(`row ${index}: ${JSON.stringify(schema)} finds ${place ?? 'nothing'} wrong`, () => {
    assert.equal(wrongPlace(schema, value), place)
  })
}
