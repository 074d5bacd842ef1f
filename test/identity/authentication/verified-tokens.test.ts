import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  EndingValidity,
  type Verified,
  VerifiedTokens,
} from '../../../lib/identity/authentication/verified-tokens.ts'
import { Principal } from '../../../lib/identity/authorization/principal.ts'
import { readAddressed, registeredClaims } from '../../../lib/identity/jwt/registered-claims.ts'
import { tokenRefusal } from '../../../lib/identity/jwt/token-refusal.ts'
import { TenantAddresses } from '../../../lib/identity/tenants/tenant-addresses.ts'

test('a proof holds as long as it is so, and never again when it has ended', () => {
  let isSo = true
  const proof = new EndingValidity(() => isSo)
  assert.equal(proof.isValid, true)
  isSo = false
  assert.equal(proof.isValid, false)
  isSo = true
  assert.equal(proof.isValid, true)
  assert.equal(proof.isWithdrawn, false)
  proof.end()
  assert.deepEqual([proof.isValid, proof.isWithdrawn, proof.hasEnded], [false, true, true])
})

test('a proof by keys that others have replaced is withdrawn, and one whose answer is old is not', () => {
  let [isTrusted, hasItsKeys] = [true, true]
  const proof = new EndingValidity(
    () => isTrusted && hasItsKeys,
    () => hasItsKeys,
  )
  isTrusted = false
  assert.deepEqual([proof.isValid, proof.isWithdrawn], [false, false])
  isTrusted = true
  hasItsKeys = false
  assert.deepEqual([proof.isValid, proof.isWithdrawn], [false, true])
})

const EXP = 1_900_000_000

function verified(
  sub: string,
  claims: object = {},
  validity = { isValid: true, hasEnded: false, isWithdrawn: false, isOutdated: false },
): Verified {
  return {
    principal: Principal.of({ sub, ...claims }, { exp: EXP, issuer: null, actors: [] }, {}),
    lifetime: { exp: EXP, nbf: undefined, iat: undefined },
    names: { issuer: null, sub, jti: null, sid: null },
    tenants: '*',
    validity,
    confirmation: null,
    isOpaque: false,
    external: undefined,
  }
}

test('a token is known as long as its proof holds', () => {
  const tokens = new VerifiedTokens(10, 5)
  const proof = { isValid: false, hasEnded: false, isWithdrawn: false, isOutdated: false }
  const alice = verified('alice', {}, proof)
  tokens.set('a', alice)
  assert.equal(tokens.get('a'), undefined)
  proof.isValid = true
  assert.equal(tokens.get('a'), alice)
})

test('an entry counts with all that it keeps alive', () => {
  const tokens = new VerifiedTokens(10, 5)
  const wide = { padding: Array.from({ length: 1000 }, (_, i) => `claim ${i}`) }
  for (let i = 0; i < 10; i++) tokens.set(`t${i}`, verified('u', wide))
  const known = Array.from({ length: 10 }, (_, i) => tokens.get(`t${i}`)).filter(Boolean)
  assert.equal(known.length < 5, true, `${known.length} are kept`)
  assert.notEqual(tokens.get('t9'), undefined, 'the last one is')
})

test('the names of an entry count too', () => {
  const tokens = new VerifiedTokens(10, 5)
  for (let i = 0; i < 10; i++) {
    const alice = verified('alice')
    const sid = `${i}`.padEnd(20_000, 'x')
    tokens.set(`t${i}`, { ...alice, names: { ...alice.names, sid } })
  }
  assert.equal(tokens.stats.size < 10, true, `${tokens.stats.size} are kept`)
})

test('the tenants that an entry is for count too', () => {
  const tokens = new VerifiedTokens(10, 5)
  const addresses = new TenantAddresses('https://api.test/:tenant', 'tenant')
  for (let i = 0; i < 10; i++) {
    const aud = Array.from({ length: 1000 }, (_, index) => `https://api.test/tenant-${index}`)
    const addressed = readAddressed(registeredClaims({ aud }), addresses)
    const subject = { exp: EXP, issuer: null, actors: [], addressed }
    const alice = { ...verified('alice'), principal: Principal.of({ sub: 'alice' }, subject, {}) }
    tokens.set(`t${i}`, alice)
  }
  assert.equal(tokens.stats.size < 10, true, `${tokens.stats.size} are kept`)
})

test('the first look of a request is a hit or a miss, and no other look counts', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: EXP * 1000 })
  const tokens = new VerifiedTokens(1, 5)
  const alice = verified('alice')
  assert.equal(tokens.recall('a'), undefined)
  tokens.set('a', alice)
  assert.equal(tokens.get('a'), alice)
  assert.equal(tokens.recall('a'), alice)
  assert.equal(tokens.recall('a'), alice)
  t.mock.timers.tick(5000)
  assert.deepEqual(tokens.recall('a'), tokenRefusal('expired'))
  tokens.set('b', alice)
  assert.deepEqual(tokens.stats, { size: 1, hits: 2, misses: 1, evictions: 1 })
})
