import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AuthError } from '../../../lib/errors.ts'
import type { VerificationKey } from '../../../lib/identity/jwks/jwk.ts'
import { JoseHeaders, parseCompactJws } from '../../../lib/identity/jwt/compact-jws.ts'
import type { UserInfo } from '../../../lib/identity/jwt/user-info.ts'
import {
  acceptToken,
  earlyRefusal,
  isSigned,
  type VerifyRules,
} from '../../../lib/identity/jwt/verify.ts'
import { encode, forge, forgeKey, partsOf } from '../../helpers/tokens/forge.ts'
import {
  assertTokenRefused,
  goodClaims,
  goodToken,
  KEY,
  startProbe,
} from '../../helpers/tokens/probe.ts'
import { readKey } from '../../helpers/tokens/read-key.ts'

const KEY_OF_PROBE = importedKey()

function importedKey(): VerificationKey {
  const key = readKey(KEY.publicJwk)
  assert.ok(typeof key === 'object', 'the key is usable')
  return key
}

const RULES: VerifyRules = {
  algorithms: new Set(['ES256']),
  tokenTypes: new Set(['application/at+jwt']),
  clockTolerance: 5,
}

const FORGED = 'the signature does not match'

const taken = (token: string) => parseCompactJws(token, 100_000, new JoseHeaders())

function verified(token: string, rules: Partial<VerifyRules> = {}) {
  const jws = taken(token)
  return isSigned(jws, KEY_OF_PROBE)
    ? acceptToken(jws, { ...RULES, ...rules })
    : assert.fail(FORGED)
}

test('the signature is checked before the payload is read', () => {
  const [header, , signature] = partsOf(goodToken())
  for (const payload of ['{}', '{"sub":1}', `${' '.repeat(4096)}no JSON`]) {
    const token = `${header}.${encode(payload)}.${signature}`
    assert.throws(() => verified(token), { message: FORGED })
  }
})

/** What a token says that no signature can save. */
function refuseUnproved(token: string, rules: VerifyRules): void {
  const refused = earlyRefusal(taken(token), rules)
  if (refused !== undefined) throw refused
}

const UNFIT: [what: string, claims: object, header: object, reason: string][] = [
  ['an algorithm that is not allowed', {}, { alg: 'RS256' }, 'the algorithm is not allowed'],
  ['another type', {}, { typ: 'JWT' }, 'the token type is not allowed'],
  ['another issuer', { iss: 'other' }, {}, 'the issuer is not accepted'],
  ['another audience', { aud: 'other' }, {}, 'the audience is not accepted'],
  ['an end that is over', { exp: 1 }, {}, 'expired'],
  ['no end', { exp: undefined }, {}, 'exp is missing'],
  ['an end that is no time', { exp: '1' }, {}, 'exp is not a time'],
  ['a beginning that is no time', { nbf: '1' }, {}, 'nbf is not a time'],
  ['an issue that is no time', { iat: '1' }, {}, 'iat is not a time'],
  ['a beginning to come', { nbf: 1e12 }, {}, 'not valid yet'],
  ['an issue to come', { iat: 1e12 }, {}, 'issued in the future'],
  ['a sender', { cnf: { jkt: 'x' } }, {}, 'bound to its sender'],
]

for (const [what, claims, header, reason] of UNFIT) {
  test(`a token of ${what} is refused without a signature, and with one too`, () => {
    const rules = { ...RULES, issuer: ['https://authority.test'], audience: ['api'] }
    const stranger = forge(forgeKey('ES256', 'probe'), { header, payload: goodClaims(claims) })
    assert.throws(() => refuseUnproved(stranger, rules), { reason })
    const isOfHeader = 'alg' in header || 'typ' in header
    if (!isOfHeader) assert.throws(() => verified(goodToken(claims, header), rules), { reason })
  })
}

test('a thumbprint that is none is refused before a signature is verified', () => {
  const thumbprint = 'x'.repeat(43)
  for (const jkt of ['', thumbprint.slice(1), `${thumbprint}x`, [thumbprint], 1, null]) {
    const refuse = () =>
      refuseUnproved(goodToken({ cnf: { jkt } }), { ...RULES, confirmation: 'check' })
    assert.throws(refuse, { reason: 'cnf is malformed' })
  }
})

test('claims that cost more to read than a signature are read after it', () => {
  const crowd = Array.from({ length: 70 }, () => [])
  const padding = 'x'.repeat(4096)
  for (const dear of [{ crowd }, { padding }]) {
    const claims = { ...dear, exp: 1 }
    refuseUnproved(goodToken(claims), RULES)
    assert.throws(() => verified(goodToken(claims)), { reason: 'expired' })
    // The early look was one at the header alone.
    assert.throws(() => acceptToken(taken(goodToken(claims)), RULES, true), { reason: 'expired' })
  }
})

test('a token without a signature is refused by that name', () => {
  const [header, payload] = partsOf(goodToken())
  const reason = 'there is no signature'
  assert.throws(() => refuseUnproved(`${header}.${payload}.`, RULES), { reason })
})

test('mapClaims gives the user info, and what it returned stays the application’s own', () => {
  const shared = { acme: ['menu:read'] }
  const mapClaims = (claims: Record<string, unknown>): UserInfo => ({
    sub: String(claims['oid']),
    resources: shared,
  })
  const { userInfo } = verified(goodToken({ oid: 'a1' }), { mapClaims })
  assert.deepEqual(userInfo, { sub: 'a1', resources: { acme: ['menu:read'] } })
  assert.equal(Object.isFrozen(userInfo.resources), true)
  assert.equal(Object.isFrozen(shared), false)
  shared.acme.push('menu:write')
  assert.deepEqual(userInfo.resources, { acme: ['menu:read'] })
})

test('mapClaims is not asked about a token that is expired, or not for us', () => {
  let asked = 0
  const mapClaims = (): UserInfo => {
    asked += 1
    return { sub: 'anybody' }
  }
  const rules = { mapClaims, issuer: ['https://authority.test'], audience: ['api'] }
  for (const claims of [{ exp: 1 }, { iss: 'other' }, { aud: 'other' }, { iat: 1e12 }]) {
    assert.throws(() => verified(goodToken(claims), rules), AuthError)
  }
  assert.equal(asked, 0)
  assert.ok(verified(goodToken(), rules), 'accepted')
  assert.equal(asked, 1)
})

test('changes of mapClaims in the claims cannot make a token last longer', () => {
  const mapClaims = (claims: Record<string, unknown>): UserInfo => {
    claims['exp'] = 1e12
    return { sub: 'alice', ...claims }
  }
  const payload = goodClaims()
  const { lifetime } = verified(forge(KEY, { payload }), { mapClaims })
  assert.equal(lifetime.exp, payload['exp'])
})

const UNUSABLE_MAPS: [what: string, mapClaims: (claims: Record<string, unknown>) => unknown][] = [
  ['throws', () => assert.fail('on purpose')],
  ['gives a string', () => 'alice'],
  ['gives no sub', () => ({ resources: {} })],
  ['gives a BigInt', () => ({ sub: 'alice', n: 1n })],
  ['gives a function for sub', () => ({ sub: () => 'alice' })],
  ['gives a Map for resources and no sub', () => ({ resources: new Map() })],
  ['gives resources that are a list', () => ({ sub: 'alice', resources: ['acme'] })],
  ['gives itself in itself', () => circular()],
  ['gives 7 000 levels', () => ({ sub: 'alice', deep: nested(7000) })],
  ['promises an answer', async () => ({ sub: 'alice' })],
]

function circular(): object {
  const user: Record<string, unknown> = { sub: 'alice' }
  user['self'] = user
  return user
}

function nested(levels: number): unknown {
  return JSON.parse('['.repeat(levels) + ']'.repeat(levels))
}

for (const [what, mapClaims] of UNUSABLE_MAPS) {
  test(`a token is refused if mapClaims ${what}`, async (t) => {
    // A value that a JavaScript application may give all the same.
    const options: object = { mapClaims }
    const probe = await startProbe(t, options)
    assertTokenRefused(await probe.ask(goodToken()), what)
  })
}
