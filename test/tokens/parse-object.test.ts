import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseObject } from '../../lib/tokens/decode-base64url.ts'
import { TokenRefused } from '../../lib/tokens/token-refused.ts'

test('a JSON object is parsed, with its own __proto__ as an ordinary member', () => {
  const value = parseObject('{"__proto__":{"sub":"mallory"},"a":1,"a":2}')
  assert.deepEqual(Object.keys(value), ['__proto__', 'a'])
  assert.equal(value['a'], 2)
  assert.equal(value['sub'], undefined)
})

const REFUSED: [what: string, text: string][] = [
  ['a byte order mark', '\ufeff{}'],
  ['UTF-16, read as UTF-8', '{\0}\0'],
  ['text that breaks off', '{'],
  ['null', 'null'],
  ['a list', '[{}]'],
  ['a string', '"{}"'],
]

for (const [what, text] of REFUSED) {
  test(`${what} is not a JSON object of a token`, () => {
    assert.throws(() => parseObject(text), TokenRefused)
  })
}
