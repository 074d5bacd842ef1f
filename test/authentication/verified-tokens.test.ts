import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Verified, VerifiedTokens } from '../../lib/authentication/verified-tokens.ts'
import { KeySet } from '../../lib/keys/key-set.ts'
import { Principal } from '../../lib/rights/principal.ts'
import { forgeKey } from '../helpers/tokens/forge.ts'

const KEYS = new KeySet({ keys: [forgeKey('ES256', 'one').publicJwk] })
const OTHERS = new KeySet({ keys: [forgeKey('ES256', 'two').publicJwk] })

function verified(sub: string, claims: object = {}): Verified {
  return {
    principal: new Principal({ sub, ...claims }, 1_900_000_000, {}),
    lifetime: { exp: 1_900_000_000, nbf: undefined, iat: undefined },
    names: { issuer: null, sub, jti: null, sid: null },
  }
}

test('a token is known under the keys that proved it, and under no others', () => {
  const tokens = new VerifiedTokens(10)
  const alice = verified('alice')
  assert.equal(tokens.get('a', KEYS), undefined)
  tokens.set('a', KEYS, alice)
  assert.equal(tokens.get('a', KEYS), alice)
  assert.equal(tokens.get('b', KEYS), undefined)
  assert.equal(tokens.get('a', OTHERS), undefined)
})

test('while there are no keys, no token is known', () => {
  const tokens = new VerifiedTokens(10)
  assert.equal(tokens.get('a', undefined), undefined)
  tokens.set('a', KEYS, verified('alice'))
  assert.equal(tokens.get('a', undefined), undefined)
})

test('tokens that other keys prove replace all that were proved before', () => {
  const tokens = new VerifiedTokens(10)
  tokens.set('a', KEYS, verified('alice'))
  const bob = verified('bob')
  tokens.set('b', OTHERS, bob)
  assert.equal(tokens.get('b', OTHERS), bob)
  assert.equal(tokens.get('a', OTHERS), undefined)
  assert.equal(tokens.get('a', KEYS), undefined, 'the keys of before are believed no more')
})

test('an entry counts with all that it keeps alive', () => {
  const tokens = new VerifiedTokens(10)
  const wide = { padding: Array.from({ length: 1000 }, (_, i) => `claim ${i}`) }
  for (let i = 0; i < 10; i++) tokens.set(`t${i}`, KEYS, verified('u', wide))
  const known = Array.from({ length: 10 }, (_, i) => tokens.get(`t${i}`, KEYS)).filter(Boolean)
  assert.equal(known.length < 5, true, `${known.length} are kept`)
  assert.notEqual(tokens.get('t9', KEYS), undefined, 'the last one is')
})

test('with size 0 no token is kept', () => {
  const tokens = new VerifiedTokens(0)
  tokens.set('a', KEYS, verified('alice'))
  assert.equal(tokens.get('a', KEYS), undefined)
})
