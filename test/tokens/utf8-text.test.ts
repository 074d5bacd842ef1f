import assert from 'node:assert/strict'
import { test } from 'node:test'
import { utf8Text } from '../../lib/tokens/decode-base64url.ts'

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

const REFUSED: [what: string, bytes: string][] = [
  ['a byte that no letter has', '{"name":"\xff\xfe"}'],
  ['an overlong encoding', '{"name":"\xc0\xaf"}'],
  ['an encoded surrogate', '{"name":"\xed\xa0\x80"}'],
  ['a character that breaks off', '{"name":"\xe2\x82"}'],
  ['a byte that no letter has, behind a \ufffd', '{"name":"\xef\xbf\xbd\xff"}'],
]

for (const [what, bytes] of REFUSED) {
  test(`${what} is not UTF-8`, () => {
    assert.throws(() => utf8Text(Buffer.from(bytes, 'latin1')), {
      reason: 'a part is not UTF-8',
    })
  })
}
