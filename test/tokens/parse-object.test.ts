import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseObject } from '../../lib/tokens/parse-object.ts'
import { TokenRefused } from '../../lib/tokens/token-refused.ts'

test('a JSON object is parsed, with its own __proto__ as an ordinary member', () => {
  const value = parseObject(Buffer.from('{"__proto__":{"sub":"mallory"},"a":1,"a":2}'))
  assert.deepEqual(Object.keys(value), ['__proto__', 'a'])
  assert.equal(value['a'], 2)
  assert.equal(value['sub'], undefined)
})

const TEXTS: [what: string, text: string][] = [
  ['letters of two, three and four bytes', 'é € 😀'],
  ['the character that stands for what is no UTF-8', 'a\ufffdb'],
]

for (const [what, name] of TEXTS) {
  test(`${what} are read as they stand`, () => {
    assert.equal(parseObject(Buffer.from(JSON.stringify({ name })))['name'], name)
  })
}

const REFUSED: [what: string, bytes: Buffer][] = [
  ['bytes that are no UTF-8', Buffer.from('{"name":"\xff\xfe"}', 'latin1')],
  ['an overlong encoding', Buffer.from('{"name":"\xc0\xaf"}', 'latin1')],
  ['an encoded surrogate', Buffer.from('{"name":"\xed\xa0\x80"}', 'latin1')],
  ['a character that breaks off', Buffer.from('{"name":"\xe2\x82"}', 'latin1')],
  ['bytes that are no UTF-8 behind a \ufffd', Buffer.from('{"name":"\xef\xbf\xbd\xff"}', 'latin1')],
  ['a byte order mark', Buffer.from('\ufeff{}')],
  ['UTF-16', Buffer.from('{}', 'utf16le')],
  ['text that breaks off', Buffer.from('{')],
  ['null', Buffer.from('null')],
  ['a list', Buffer.from('[{}]')],
  ['a string', Buffer.from('"{}"')],
]

for (const [what, bytes] of REFUSED) {
  test(`${what} is not a JSON object of a token`, () => {
    assert.throws(() => parseObject(bytes), TokenRefused)
  })
}
