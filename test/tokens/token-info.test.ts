import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readTokenNames, tokenInfo } from '../../lib/tokens/token-info.ts'

const LIFETIME = { exp: 1_800_000_300, nbf: undefined, iat: 1_800_000_000 }

test('token info has the token’s own claims', () => {
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

test('a claim that the token lacks, inherits, or has as another type is null', () => {
  const none = { issuer: null, sub: null, jti: null, sid: null }
  assert.deepEqual(readTokenNames({}), none)
  assert.deepEqual(readTokenNames({ iss: 1, sub: null, jti: ['j'], sid: {} }), none)
  assert.deepEqual(readTokenNames(Object.create({ iss: 'i', sub: 's', jti: 'j', sid: 'd' })), none)
  const timeless = tokenInfo(none, { exp: undefined, nbf: undefined, iat: undefined })
  assert.deepEqual([timeless.issuedAt, timeless.expiresAt], [null, null])
})

test('a reader cannot change what another reader gets', () => {
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
