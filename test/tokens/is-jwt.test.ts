import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isJwt } from '../../lib/tokens/jose-header.ts'
import { encode } from '../helpers/tokens/forge.ts'
import { goodToken } from '../helpers/tokens/probe.ts'

const HEADER = encode({ alg: 'ES256' })

const JWTS: [what: string, token: string][] = [
  ['a good one', goodToken()],
  ['with an alg of another type', `${encode({ alg: 5 })}.a.b`],
  ['with alg none', `${encode({ alg: 'none' })}..`],
  ['with a padded header', `${encode('{"alg":"ES256"}  ')}=.a.b`],
  ['in the standard alphabet', `${Buffer.from('{"alg":"??>>"}').toString('base64')}.a.b`],
  ['with a byte order mark', `${encode('\ufeff{"alg":"ES256"}')}.a.b`],
  ['with an escaped alg', `${encode('{"\\u0061lg":"ES256"}')}.a.b`],
  ['with a header that is too long', `${'a'.repeat(2049)}.a.b`],
]

for (const [what, token] of JWTS) {
  test(`a JWT is one, good or bad: ${what}`, () => assert.equal(isJwt(token), true))
}

const OPAQUE: [what: string, token: string][] = [
  ['nothing', ''],
  ['letters', 'abc'],
  ['an API key', 'key_0123456789.abcdef'],
  ['two parts', `${HEADER}.a`],
  ['four parts', `${HEADER}.a.b.c`],
  ['a JWE of five parts', `${HEADER}.a.b.c.d`],
  ['three parts, and no JSON first', 'ya29.a.b'],
  ['three parts, and no JSON of the most letters first', `${'a'.repeat(2048)}.a.b`],
  ['three parts, and no object first', `${encode('"alg"')}.a.b`],
  ['three parts, and a list first', `${encode(['alg'])}.a.b`],
  ['three parts, and no alg first', `${encode({ kid: 'a' })}.a.b`],
  ['an alg of another object', `${encode('{"__proto__":{"alg":"ES256"}}')}.a.b`],
]

for (const [what, token] of OPAQUE) {
  test(`what is no JWT is opaque: ${what}`, () => assert.equal(isJwt(token), false))
}

test('an alg that other code has given to all objects is none', (t) => {
  Object.defineProperty(Object.prototype, 'alg', { value: 'ES256', configurable: true })
  t.after(() => Reflect.deleteProperty(Object.prototype, 'alg'))
  assert.equal(isJwt(`${encode({ kid: 'a' })}.a.b`), false)
})
