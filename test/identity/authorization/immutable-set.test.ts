import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect, isDeepStrictEqual } from 'node:util'

// Newer versions of Node have the methods of set algebra. Older ones get one here, so that both
// ways are tried.
if (!('union' in Set.prototype)) {
  Object.defineProperty(Set.prototype, 'union', {
    configurable: true,
    value(this: Set<unknown>, other: Iterable<unknown>) {
      return new Set([...this, ...other])
    },
  })
}
const { ImmutableSet } = await import('../../../lib/identity/authorization/immutable-set.ts')

test('it reads like a ReadonlySet', () => {
  const set = new ImmutableSet(['a', 'b', 'a'])
  assert.equal(set.size, 2)
  assert.deepEqual([set.has('a'), set.has('c')], [true, false])
  assert.deepEqual([...set], ['a', 'b'])
  assert.deepEqual([...set.keys()], ['a', 'b'])
  assert.deepEqual([...set.values()], ['a', 'b'])
  assert.deepEqual(
    [...set.entries()],
    [
      ['a', 'a'],
      ['b', 'b'],
    ],
  )
  assert.equal(JSON.stringify(set), '["a","b"]')
  assert.equal(String(set), '[object ImmutableSet]')
})

test('forEach gives the set itself to its function, never the inner Set', () => {
  const set = new ImmutableSet(['a'])
  const context = {}
  const seen: unknown[] = []
  set.forEach(function (this: unknown, item, again, all) {
    seen.push(this, item, again, all)
  }, context)
  assert.equal(seen[0], context)
  assert.deepEqual(seen.slice(1, 3), ['a', 'a'])
  assert.equal(seen[3], set)
})

test('the items are copied when the set is made', () => {
  const items = new Set(['a'])
  const set = new ImmutableSet(items)
  items.add('b')
  assert.deepEqual([...set], ['a'])
})

test('its contents can be looked at, sorted', () => {
  assert.equal(inspect(new ImmutableSet(['b', 'a'])), "ImmutableSet { items: [ 'a', 'b' ] }")
  assert.equal(inspect(new ImmutableSet(['a', 'b'])), "ImmutableSet { items: [ 'a', 'b' ] }")
  assert.equal(inspect(new ImmutableSet([])), 'ImmutableSet { items: [] }')
})

test('two sets are equal if their items are, in any order', () => {
  assert.deepEqual(new ImmutableSet(['a', 'b']), new ImmutableSet(['b', 'a', 'b']))
  assert.equal(isDeepStrictEqual(new ImmutableSet(['a', 'b']), new ImmutableSet(['b', 'a'])), true)
  for (const other of [['a'], ['a', 'c'], ['a', 'b', 'c'], []]) {
    assert.notDeepEqual(new ImmutableSet(['a', 'b']), new ImmutableSet(other))
  }
  assert.notDeepEqual(new ImmutableSet(['a']), new Set(['a']))
})

/** Ways to change a set. */
const CHANGES: readonly [what: string, change: (set: object) => unknown][] = [
  ['add', (set) => Reflect.apply(Reflect.get(set, 'add'), set, ['x'])],
  ['delete', (set) => Reflect.apply(Reflect.get(set, 'delete'), set, ['a'])],
  ['clear', (set) => Reflect.apply(Reflect.get(set, 'clear'), set, [])],
  ["Set's own add", (set) => Reflect.apply(Set.prototype.add, set, ['x'])],
  ["Set's own clear", (set) => Reflect.apply(Set.prototype.clear, set, [])],
  ['an assignment', (set) => Object.assign(set, { has: () => true })],
  ['a new property', (set) => Object.assign(set, { x: 1 })],
  ['an assignment of size', (set) => Object.assign(set, { size: 9 })],
  ['another prototype', (set) => Object.setPrototypeOf(set, Set.prototype)],
  ['its prototype', (set) => Object.assign(Object.getPrototypeOf(set), { has: () => true })],
  ['a push to its items', (set) => Reflect.apply([].push, Reflect.get(set, 'items'), ['x'])],
  ['a pop of its items', (set) => Reflect.apply([].pop, Reflect.get(set, 'items'), [])],
  ['an assignment of its items', (set) => Object.assign(set, { items: ['x'] })],
  ['a defined property', (set) => Object.defineProperty(set, 'has', { value: () => true })],
]

for (const [what, change] of CHANGES) {
  test(`it cannot be changed by ${what}`, () => {
    const set = new ImmutableSet(['a'])
    assert.throws(() => change(set), TypeError)
    assert.deepEqual([[...set], set.has('x'), set.size], [['a'], false, 1])
  })
}

test('if Node has set algebra, the set has it too, and the results are new sets', () => {
  const set = new ImmutableSet(['a'])
  const union: unknown = Reflect.get(set, 'union')
  assert.ok(typeof union === 'function', 'this Node has union')
  const both: unknown = Reflect.apply(union, set, [new Set(['b'])])
  assert.ok(both instanceof Set, 'a set')
  assert.deepEqual([...both], ['a', 'b'])
  both.clear()
  assert.deepEqual([...set], ['a'])
  for (const name of ['intersection', 'difference', 'symmetricDifference', 'isSubsetOf']) {
    assert.equal(name in set, name in Set.prototype)
  }
})
