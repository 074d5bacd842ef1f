import assert from 'node:assert/strict'
import { test } from 'node:test'
import { textHash } from '../../lib/outside/text-hash.ts'

test('a text has one hash, a whole number of 32 bits', () => {
  for (const text of ['', 'a', 'ü€😀', 'a'.repeat(10_000)]) {
    const hash = textHash(text)
    assert.equal(hash, hash | 0, 'of 32 bits')
    assert.equal(textHash(text.slice(0, 5) + text.slice(5)), hash)
  }
})

test('each letter from the named place on counts, and no letter before it', () => {
  const text = 'abcdefgh'
  for (const from of [-5, 0, 1, 4, 7]) {
    const hash = textHash(text, from)
    for (let at = 0; at < text.length; at++) {
      const other = `${text.slice(0, at)}X${text.slice(at + 1)}`
      assert.equal(textHash(other, from) !== hash, at >= from, `letter ${at}, from ${from}`)
    }
  }
  assert.equal(textHash(text, 8), textHash('', 0), 'no letter is left')
  assert.equal(textHash(text, 3), textHash('defgh'))
})

test('texts whose low bits can be made alike without the secret are spread over all places', () => {
  const PLACES = 64
  const pairs = (number: number) =>
    Array.from({ length: 10 }, (_, bit) => ((number >> bit) & 1 ? 'AA' : 'aa')).join('')
  const places = Array.from({ length: 1024 }, (_, number) => textHash(pairs(number)) & (PLACES - 1))
  assert.ok(new Set(places).size > PLACES / 2, `${new Set(places).size} of ${PLACES} places`)
})
