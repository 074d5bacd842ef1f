import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readTokenNames, tokenInfo } from '../../lib/tokens/token-info.ts'

const LIFETIME = { exp: 1_800_000_300, nbf: undefined, iat: 1_800_000_000 }

test('a token is told by its own claims', () => {
  const names = readTokenNames({ iss: 'i', sub: 's', jti: 'j', sid: 'd', other: 1 })
  assert.deepEqual(tokenInfo(names, LIFETIME), {
    issuer: 'i',
    sub: 's',
    jti: 'j',
    sid: 'd',
    issuedAt: new Date('2027-01-15T08:00:00.000Z'),
    expiresAt: new Date('2027-01-15T08:05:00.000Z'),
  })
})

test('what a token does not say, says as no string, or does not say itself, is null', () => {
  const none = { issuer: null, sub: null, jti: null, sid: null }
  assert.deepEqual(readTokenNames({}), none)
  assert.deepEqual(readTokenNames({ iss: 1, sub: null, jti: ['j'], sid: {} }), none)
  assert.deepEqual(readTokenNames(Object.create({ iss: 'i', sub: 's', jti: 'j', sid: 'd' })), none)
  const timeless = tokenInfo(none, { exp: undefined, nbf: undefined, iat: undefined })
  assert.deepEqual([timeless.issuedAt, timeless.expiresAt], [null, null])
})

test('nobody can change what another reader is told', () => {
  const names = readTokenNames({ jti: 'j' })
  const info = tokenInfo(names, LIFETIME)
  assert.throws(() => Object.assign(names, { jti: 'k' }), TypeError)
  assert.throws(() => Object.assign(info, { jti: 'k' }), TypeError)
  info.issuedAt?.setTime(0)
  info.expiresAt?.setTime(0)
  const again = tokenInfo(names, LIFETIME)
  assert.equal(again.issuedAt?.getTime(), LIFETIME.iat * 1000)
  assert.equal(again.expiresAt?.getTime(), LIFETIME.exp * 1000)
})
