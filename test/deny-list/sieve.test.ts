import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Sieve } from '../../lib/deny-list/sieve.ts'

const texts = (what: string, count: number) =>
  Array.from({ length: count }, (_, i) => `,,"${what}-${i}","https://a.example.com"`)
const ODD = ['', '__proto__', '\0', '\ud800', 'ä', 'a'.repeat(10_000)]

test('what was added passes, and few others do', () => {
  const sieve = new Sieve()
  const added = [...ODD, ...texts('user', 100_000)]
  for (const [i, text] of added.entries()) {
    if (sieve.isFull) sieve.refill(added.slice(0, i), i)
    sieve.add(text)
  }
  assert.equal(
    added.every((text) => sieve.passes(text)),
    true,
  )
  const others = texts('visitor', 10_000).filter((text) => sieve.passes(text))
  assert.ok(others.length < 1000, `${others.length} of 10 000 others pass`)
})

test('what it is not filled with again passes no more', () => {
  const sieve = new Sieve()
  const [kept, gone] = [texts('kept', 100), texts('gone', 1000)]
  for (const text of [...kept, ...gone]) sieve.add(text)
  sieve.refill(kept, kept.length)
  assert.deepEqual(
    kept.filter((text) => !sieve.passes(text)),
    [],
  )
  const passing = gone.filter((text) => sieve.passes(text))
  assert.ok(passing.length < 100, `${passing.length} of 1000 pass`)
})
