import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { TokenCache } from '../../../lib/identity/authentication/token-cache.ts'
import { usedHeap } from '../../helpers/processes/used-heap.ts'

const tokenOf = (name: string, length: number): string => name.padStart(length, '-')

test('the oldest unused entry goes first, and a used entry stays for a round', () => {
  const cache = new TokenCache<number>(3)
  for (const [i, name] of ['a', 'b', 'c'].entries()) cache.set(name, i)
  cache.get('a')
  cache.set('d', 3)
  assert.equal(cache.get('b'), undefined)
  assert.equal(cache.get('a'), 0)
  assert.equal(cache.get('c'), 2)
  assert.equal(cache.get('d'), 3)
})

/** Two tokens that share their hash where it begins with this number. */
function twins(seed: number): [one: string, other: string] {
  const seen = new Map<number, string>()
  for (;;) {
    const letter = randomInt(2 ** 16)
    const hash = Math.imul(seed ^ letter, 0x01000193)
    const token = String.fromCharCode(letter, hash & 0xffff)
    const twin = seen.get(hash >>> 16)
    if (twin !== undefined && twin !== token) return [twin, token]
    seen.set(hash >>> 16, token)
  }
}

test('a stranger who tries a hundred seeds finds no tokens that take each other’s place', () => {
  for (let seed = 0; seed < 100; seed++) {
    const cache = new TokenCache<number>(2)
    for (const [i, token] of twins(seed).entries()) cache.set(token, i)
    assert.equal(cache.size, 2, `seed ${seed}`)
  }
})

test('a replaced token no longer counts as text', () => {
  const cache = new TokenCache<number>(2)
  for (let i = 0; i < 50; i++) cache.set(tokenOf('same', 3900), i)
  cache.set(tokenOf('other', 90), 1)
  assert.equal(cache.get(tokenOf('same', 3900)), 49)
  assert.equal(cache.get(tokenOf('other', 90)), 1)
})

test('what a value keeps alive counts too, 8 KiB for each entry on average', () => {
  let size = 4 * 8192 - 1000
  const cache = new TokenCache<number>(10, () => size)
  for (let i = 0; i < 100; i++) {
    cache.set(`t${i}`, i)
    assert.equal(cache.get(`t${i}`), i)
  }
  assert.equal(cache.size, 2)
  size = 1000
  for (let i = 0; i < 100; i++) cache.set(`u${i}`, i)
  assert.equal(cache.size, 10)
})

test('a token that is set again elsewhere does not move the look', () => {
  const cache = new TokenCache<string>(4)
  for (const name of ['a', 'b', 'c', 'd']) cache.set(name, name)
  cache.get('a')
  cache.set('e', 'e')
  assert.equal(cache.get('b'), undefined, 'the look has passed a, and c comes next')
  cache.set('d', 'again')
  cache.set('f', 'f')
  const shown = ['a', 'c', 'd', 'e', 'f'].map((name) => cache.get(name))
  assert.deepEqual(shown, ['a', undefined, 'again', 'e', 'f'])
})

/** Two tokens with what their values keep alive, and whether a cache for two keeps both. */
const BOUNDS: readonly [what: string, lengths: [number, number], bytes: number, both: boolean][] = [
  ['2 KiB of text each', [2048, 2048], 0, true],
  ['one character more', [2049, 2048], 0, false],
  ['8 KiB each, with 512 bytes for the entry', [10, 10], 8192 - 512 - 10, true],
  ['one byte more each', [10, 10], 8192 - 512 - 9, false],
]

for (const [what, [one, two], bytes, both] of BOUNDS) {
  test(`of two tokens with ${what} ${both ? 'both are' : 'one is'} kept`, () => {
    const cache = new TokenCache<number>(2, () => bytes)
    cache.set(tokenOf('one', one), 1)
    cache.set(tokenOf('two', two), 2)
    const evictions = both ? 0 : 1
    assert.deepEqual([cache.size, cache.evictions], [2 - evictions, evictions])
    assert.equal(cache.get(tokenOf('two', two)), 2)
  })
}

test('what had to go for lack of room is counted, and what was replaced is not', () => {
  const cache = new TokenCache<number>(3)
  for (let i = 0; i < 3; i++) cache.set('same', i)
  assert.equal(cache.evictions, 0)
  for (let i = 0; i < 10; i++) cache.set(`t${i}`, i)
  assert.equal(cache.evictions, 8)
})

test('a token that is set again when it is looked at next leaves the look to the one after', () => {
  const cache = new TokenCache<string>(3)
  for (const name of ['a', 'b', 'c']) cache.set(name, name)
  cache.get('a')
  cache.set('d', 'd')
  assert.equal(cache.get('b'), undefined, 'the look had passed a, and c comes next')
  cache.set('c', 'again')
  cache.set('e', 'e')
  const shown = ['a', 'c', 'd', 'e'].map((name) => cache.get(name))
  assert.deepEqual(shown, ['a', 'again', undefined, 'e'])
})

test('a token above the whole bound is kept alone', () => {
  const cache = new TokenCache<number>(2, (value) => (value === 3 ? 1_000_000 : 0))
  cache.set('a', 1)
  cache.set(tokenOf('long', 5000), 2)
  assert.deepEqual([cache.get(tokenOf('long', 5000)), cache.size], [2, 1])
  cache.set('b', 3)
  assert.deepEqual([cache.get('b'), cache.size], [3, 1])
  cache.set('c', 4)
  assert.deepEqual([cache.get('c'), cache.size], [4, 1])
  cache.set('d', 5)
  assert.equal(cache.size, 2)
})

test('tokens that are set again and again leave nothing of before in memory', () => {
  const cache = new TokenCache<object>(10_000)
  const tokens = Array.from({ length: 500 }, (_, i) => tokenOf(`${i}`, 300))
  const setAll = () => {
    for (const token of tokens) cache.set(token, { rights: new Array(100).fill(token) })
  }
  for (let time = 0; time < 10; time++) setAll()
  const before = usedHeap()
  for (let time = 0; time < 40; time++) setAll()
  const grown = usedHeap() - before
  assert.ok(grown < 4_000_000, `40 times as many were let go, and ${grown} bytes are kept`)
})

test('tokens that differ before a long ending are kept beside each other', () => {
  const cache = new TokenCache<number>(100)
  const keyed = (at: number) => `key-${at}-${'x'.repeat(300)}`
  for (let at = 0; at < 100; at++) cache.set(keyed(at), at)
  for (let at = 0; at < 100; at++) assert.equal(cache.get(keyed(at)), at)
  assert.deepEqual([cache.size, cache.evictions, cache.get(keyed(100))], [100, 0, undefined])
  cache.set(keyed(50), -50)
  assert.deepEqual([cache.size, cache.get(keyed(50))], [100, -50])
  cache.forget((at) => at === 0)
  for (let at = 1; at < 100; at++) assert.equal(cache.get(keyed(at)), at === 50 ? -50 : at)
  for (let at = 0; at < 1000; at++) cache.set(keyed(at), at)
  assert.deepEqual([cache.size, cache.get(keyed(999))], [100, 999])
  cache.forget(() => true)
  assert.deepEqual([cache.size, cache.get(keyed(999))], [0, undefined])
})

test('thousands of tokens that come and go in any order are found while they are kept', () => {
  const cache = new TokenCache<number>(5000)
  const there = new Map<string, number>()
  for (let at = 0; at < 20_000; at++) {
    const token = `t${randomInt(6000)}`
    cache.set(token, at)
    there.set(token, at)
    if (at % 1000 === 999) {
      const third = (value: number) => value % 3 === 0
      cache.forget(third)
      for (const [token, value] of there) if (third(value)) there.delete(token)
    }
    // No more than there is room for.
    if (there.size > 4999) {
      cache.forget(() => true)
      there.clear()
    }
  }
  assert.equal(cache.size, there.size)
  for (let name = 0; name < 6000; name++) {
    assert.equal(cache.get(`t${name}`), there.get(`t${name}`))
  }
})
