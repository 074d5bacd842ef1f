import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeBase64url } from '../../lib/tokens/decode-base64url.ts'
import { TokenRefused } from '../../lib/tokens/token-refused.ts'

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
    assert.ok(error instanceof TokenRefused, `${error}`)
    return false
  }
}
