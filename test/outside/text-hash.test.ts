import assert from 'node:assert/strict'
import { test } from 'node:test'
import { textHash } from '../../lib/outside/text-hash.ts'

test('a text has one hash, a whole number of 32 bits', () => {
  for (const text of ['', 'a', 'ü€😀', '\uffff', 'a'.repeat(10_000)]) {
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

test('each letter of a long text counts', () => {
  const hashes = Array.from({ length: 1_000 }, (_, at) =>
    textHash(`${'-'.repeat(at)}x${'-'.repeat(999 - at)}`),
  )
  assert.ok(new Set(hashes).size > 990, `${new Set(hashes).size} hashes of 1000 texts`)
})

/**
 * Two texts that differ in one high bit of four letters. Where the letters' own numbers count, each
 * change is worth a power of FNV's factor. These four powers add up to 0 if their signs fit, which
 * they do for one seed of eight. A beginning of the texts changes the signs as a seed does.
 */
const PREPARED = [
  { plain: '0', changed: '\u8030', length: 30, at: [0, 5, 25, 28] },
  { plain: '0', changed: 'p', length: 255, at: [4, 223, 233, 243] },
] as const

for (const { plain, changed, length, at } of PREPARED) {
  test(`two texts of ${length} letters that are prepared without the secret differ in their hash`, () => {
    const one = plain.repeat(length)
    const other = Array.from(one, (letter, i) => (at.some((n) => n === i) ? changed : letter))
    for (let beginning = 0; beginning < 200; beginning++) {
      const [a, b] = [`${beginning}${one}`, `${beginning}${other.join('')}`]
      assert.notEqual(textHash(a), textHash(b), a)
    }
  })
}

/** Two letters whose hashes have the same low bits. */
function lettersAlike(): [string, string] {
  const seen = new Map<number, string>()
  for (let code = 0; code < 2 ** 16; code++) {
    const letter = String.fromCharCode(code)
    const bits = textHash(letter) & 0xffff
    const twin = seen.get(bits)
    if (twin !== undefined) return [twin, letter]
    seen.set(bits, letter)
  }
  throw new Error('no two letters are alike')
}

test('texts of letters whose low bits are alike are spread over all places', () => {
  const PLACES = 64
  const letters = lettersAlike()
  const text = (number: number) =>
    Array.from({ length: 10 }, (_, bit) => letters[(number >> bit) & 1]).join('')
  const places = Array.from({ length: 1024 }, (_, number) => textHash(text(number)) & (PLACES - 1))
  assert.ok(new Set(places).size > PLACES / 2, `${new Set(places).size} of ${PLACES} places`)
})
