import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  constraintWords,
  jsonConstraints,
  notCompared,
  placeWords,
} from '../../lib/routes/route-constraints.ts'

/** What a route is constrained by, and how JSON holds it. */
const WRITTEN: readonly [given: unknown, written: unknown][] = [
  ['1.2.0', '1.2.0'],
  [7, 7],
  [true, true],
  [null, null],
  [/^[a-z]+\.b\.example$/i, '/^[a-z]+\\.b\\.example$/i'],
  [Number.NaN, 'NaN'],
  [Number.POSITIVE_INFINITY, 'Infinity'],
  [12n, '12n'],
  [undefined, 'undefined'],
  [Symbol('gold'), 'Symbol(gold) (cannot be compared)'],
  [function near() {}, '[Function: near] (cannot be compared)'],
  [{ near: [() => true] }, '{ near: [ [Function (anonymous)] ] } (cannot be compared)'],
  [new (class Area {})(), 'Area {} (cannot be compared)'],
  [new Map([['a', () => 1]]), "Map(1) { 'a' => [Function (anonymous)] } (cannot be compared)"],
  [
    {
      get a() {
        return 1
      },
    },
    '{ a: [Getter] } (cannot be compared)',
  ],
  [new Date(0), '1970-01-01T00:00:00.000Z'],
  [['a', /b/], "[ 'a', /b/ ]"],
  [{ b: { c: { d: { e: 1 } } }, a: 2 }, '{ a: 2, b: { c: { d: { e: 1 } } } }'],
  [new Set(['a']), "Set(1) { 'a' }"],
  [Array(101).fill(1), `[${` ${Array(101).fill(1).join(', ')} `}]`],
]

for (const [given, written] of WRITTEN) {
  test(`the constraint ${String(written).slice(0, 40)} is written as JSON can hold it`, () => {
    assert.deepEqual(jsonConstraints({ given }), { given: written })
  })
}

test('the constraints that cannot be compared are known by their names', () => {
  const given = { host: 'a', geo: () => true, list: ['b'], at: new WeakMap() }
  const constraints = jsonConstraints(given)
  assert.deepEqual(notCompared({ ...(constraints && { constraints }) }), ['at', 'geo'])
  assert.deepEqual(notCompared({}), [])
})

test('two values that differ beyond what is usually shown are written differently', () => {
  const long = 'x'.repeat(20_000)
  const written = [['a'], ['b']].map(([end]) => jsonConstraints({ list: [long + end] }))
  assert.notDeepEqual(written[0], written[1])
})

test('constraints stand in the order of their names, and no constraints are none', () => {
  const written = jsonConstraints({ version: '1.0.0', host: 'a.example' })
  assert.deepEqual(Object.keys(written ?? {}), ['host', 'version'])
  assert.equal(jsonConstraints({}), undefined)
  assert.equal(jsonConstraints(Object.create({ version: '1.0.0' })), undefined)
})

test('a url is shown with its constraints, in words that cannot be taken for others', () => {
  const url = '/x'
  assert.equal(placeWords({ url }), '/x')
  assert.equal(placeWords({ url, constraints: { version: '1.0.0' } }), '/x (version 1.0.0)')
  const odd = { a: '', b: 'c, d e', f: '"g"', 'h i': null }
  assert.equal(constraintWords({ constraints: odd }), 'a "", b "c, d e", f "\\"g\\"", "h i" null')
  assert.equal(constraintWords({}), 'none')
})
