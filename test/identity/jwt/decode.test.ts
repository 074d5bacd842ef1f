import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AuthError } from '../../../lib/errors.ts'
import { decodeBase64url, parseObject, utf8Text } from '../../../lib/identity/jwt/compact-jws.ts'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

test('encoded bytes are decoded to the same bytes', () => {
  for (let length = 1; length < 300; length++) {
    const bytes = Buffer.from(Array.from({ length }, (_, i) => (i * 37 + length) % 256))
    assert.deepEqual(decodeBase64url(bytes.toString('base64url')), bytes)
  }
})

test('of all texts of up to three letters only the encodings of bytes are decoded', () => {
  const letters = ['', ...ALPHABET, '+', '/', '=', '.', ' ', '\n', '\0', 'é', '\u0141']
  const encoded = new Set<string>()
  for (let i = 0; i < 65_536; i++) {
    encoded.add(Buffer.from([i >> 8, i & 255]).toString('base64url'))
    encoded.add(Buffer.from([i & 255]).toString('base64url'))
  }
  const decoded = new Set<string>()
  for (const a of letters) {
    for (const b of letters) {
      for (const c of letters) {
        const text = a + b + c
        if (isDecoded(text)) decoded.add(text)
      }
    }
  }
  assert.deepEqual(decoded, encoded)
})

function isDecoded(text: string): boolean {
  try {
    decodeBase64url(text)
    return true
  } catch (error) {
    assert.ok(error instanceof AuthError, `${error}`)
    return false
  }
}

test('a JSON object is parsed, with its own __proto__ as an ordinary member', () => {
  const value = parseObject('{"__proto__":{"sub":"mallory"},"a":1,"a":2}')
  assert.deepEqual(Object.keys(value), ['__proto__', 'a'])
  assert.equal(value['a'], 2)
  assert.equal(value['sub'], undefined)
})

const TEXTS: [what: string, text: string][] = [
  ['letters of two, three and four bytes', 'é € 😀'],
  ['the character that stands for what is no UTF-8', 'a\ufffdb'],
  ['a byte order mark', '\ufeff{}'],
]

for (const [what, text] of TEXTS) {
  test(`${what} is read as it stands`, () => {
    assert.equal(utf8Text(Buffer.from(text)), text)
  })
}

const REFUSED_OF_UTF8TEXT: [what: string, bytes: string][] = [
  ['a character that breaks off', '{"name":"\xe2\x82"}'],
  ['a byte that no letter has, behind a \ufffd', '{"name":"\xef\xbf\xbd\xff"}'],
]

for (const [what, bytes] of REFUSED_OF_UTF8TEXT) {
  test(`${what} is not UTF-8`, () => {
    assert.throws(() => utf8Text(Buffer.from(bytes, 'latin1')), {
      reason: 'a part is not UTF-8',
    })
  })
}
