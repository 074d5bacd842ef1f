import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestAuthority } from '../../../lib/entrypoints/testing/index.ts'
import {
  areTestKeys,
  type KeySet,
  MAX_KEYS,
  readKeySet,
} from '../../../lib/identity/jwks/jwk-set.ts'
import { forgeKey } from '../../helpers/tokens/forge.ts'

const es = forgeKey('ES256', 'es').publicJwk
const otherEs = forgeKey('ES256', 'other-es').publicJwk
const rs = forgeKey('RS256', 'rs').publicJwk
const otherRs = forgeKey('RS256', 'other-rs').publicJwk
const ed = forgeKey('EdDSA', 'ed').publicJwk

const without = (jwk: object, ...names: string[]) =>
  Object.fromEntries(Object.entries(jwk).filter(([name]) => !names.includes(name)))

const setOf = (...keys: unknown[]) => readKeySet({ keys })

/** The kid of the key that is found, or the reason why there is none. */
function found(set: KeySet, alg: string, kid?: string): string | undefined {
  const key = set.find({ alg, kid })
  return typeof key === 'string' ? key : key.kid
}

test('a key of that name for another purpose is unfit, and is not looked for again', () => {
  const set = setOf(es, rs, ed)
  assert.equal(found(set, 'RS256', 'es'), 'unfit')
  assert.equal(found(set, 'ES256', 'rs'), 'unfit')
  assert.equal(found(set, 'RS384', 'rs'), 'unfit', 'the key names its algorithm')
  assert.equal(found(set, 'Ed25519', 'ed'), 'unfit')
  assert.equal(found(set, 'none', 'es'), 'unfit')
})

test('a kid that two keys have for different algorithms is not ambiguous', () => {
  const set = setOf(es, { ...rs, kid: 'es' }, { ...ed, kid: 'es' })
  for (const alg of ['ES256', 'RS256', 'EdDSA']) assert.equal(found(set, alg, 'es'), 'es')
})

test('a key without a kid does not serve a token with one', () => {
  const set = setOf(without(es, 'kid'))
  assert.equal(found(set, 'ES256', 'es'), 'unknown')
  assert.equal(found(set, 'ES256', ''), 'unknown')
})

test('a member that is there twice counts once', () => {
  const set = setOf(es, { ...es }, { ...without(es, 'alg', 'use') })
  assert.equal(found(set, 'ES256', 'es'), 'es')
  assert.equal(found(set, 'ES256'), 'es')
})

test('a key that is there under several names, or for more algorithms, is one key', () => {
  const set = setOf(rs, without(rs, 'alg'), { ...rs, kid: 'other' })
  assert.equal(found(set, 'RS256', 'rs'), 'rs')
  assert.equal(found(set, 'PS256', 'rs'), 'rs')
  assert.notEqual(found(set, 'RS256'), 'unfit')
  const several = setOf(rs, { ...otherRs, kid: 'rs' })
  assert.equal(found(several, 'RS256', 'rs'), 'unfit')
  assert.equal(found(several, 'RS256'), 'unfit')
})

test('a bad member does not spoil the good ones', () => {
  const bad = [
    null,
    'es',
    [],
    {},
    { kty: 'oct', kid: 'es', k: 'c2VjcmV0' },
    { ...otherEs, kid: 'es', use: 'enc' },
    { ...otherEs, kid: 'es', d: 'AQ' },
    { ...without(otherEs, 'x'), kid: 'es' },
    { ...otherEs, kid: 'es', x: 'AA', y: 'AA' },
    { ...rs, kid: 'es', e: 'AQ' },
    { ...ed, kid: 7 },
  ]
  for (const keys of [
    [...bad, es, rs],
    [es, rs, ...bad],
    [...bad, es, ...bad, rs],
  ]) {
    const set = setOf(...keys)
    assert.equal(found(set, 'ES256', 'es'), 'es')
    assert.equal(found(set, 'RS256', 'rs'), 'rs')
    assert.equal(found(set, 'ES256'), 'es')
  }
})

test('two sets of the same keys have one fingerprint, in any order', () => {
  const { fingerprint } = setOf(es, rs, ed)
  assert.equal(setOf(ed, without(rs, 'use'), es, es, null).fingerprint, fingerprint)
  assert.notEqual(setOf(es, rs).fingerprint, fingerprint)
  assert.notEqual(setOf(es, rs, ed, otherEs).fingerprint, fingerprint)
  assert.notEqual(setOf(es, rs, { ...ed, kid: 'other' }).fingerprint, fingerprint)
  assert.notEqual(setOf(es, without(rs, 'alg'), ed).fingerprint, fingerprint)
  assert.notEqual(setOf({ ...otherEs, kid: 'es' }, rs, ed).fingerprint, fingerprint)
})

test('the names of the keys are listed once each, and cannot be changed', () => {
  const { kids } = setOf(es, { ...rs, kid: 'es' }, without(ed, 'kid'))
  assert.deepEqual(new Set(kids), new Set(['es', undefined]))
  assert.equal(kids.length, 2)
  assert.equal(Object.isFrozen(kids), true)
})

test('a set may have 100 members and no more, usable or not', () => {
  const others = (count: number) => Array.from({ length: count }, (_, i) => ({ kid: `${i}` }))
  assert.equal(MAX_KEYS, 100)
  assert.equal(found(setOf(...others(99), es), 'ES256', 'es'), 'es')
  assert.throws(() => setOf(...others(100), es), { message: /too many members/ })
})

const none: [what: string, jwks: unknown][] = [
  ['null', null],
  ['undefined', undefined],
  ['a string', 'keys'],
  ['an empty object', {}],
  ['keys that are null', { keys: null }],
  ['keys that are an object', { keys: { 0: es, length: 1 } }],
  ['keys that are a string', { keys: 'es' }],
  ['inherited keys', Object.create({ keys: [es] })],
  ['an object of inherited members', Object.create({ ...es, jwks_uri: 'https://login.test/keys' })],
]

for (const [what, jwks] of none) {
  test(`${what} is not a JWK set`, () => {
    assert.throws(() => readKeySet(jwks), { message: 'not a JWK set' })
  })
}

const mistaken: [what: string, jwks: unknown, reason: string][] = [
  ['a list of keys', [es], 'this is a list; a JWK set is an object whose "keys" is the list'],
  ['a single key', es, 'this is a single key; a JWK set has it in its list keys'],
  [
    'a discovery document',
    { issuer: 'https://login.test', jwks_uri: 'https://login.test/keys' },
    'this is a discovery document; its jwks_uri is https://login.test/keys',
  ],
  [
    'a discovery document whose address has a query',
    { jwks_uri: 'https://login.test/keys?secret#secret' },
    'this is a discovery document; its jwks_uri is https://login.test/keys',
  ],
  ...['javascript:alert()', 'https://user:secret@login.test/', 'ftp://a/', 'secret', 7, null].map(
    (uri): [string, unknown, string] => [
      `a discovery document with the address ${uri}`,
      { jwks_uri: uri },
      'this is a discovery document, not a JWK set',
    ],
  ),
]

for (const [what, jwks, reason] of mistaken) {
  test(`${what} is not a JWK set, and the reason says what it is`, () => {
    assert.throws(() => readKeySet(jwks), { message: reason })
  })
}

const symmetric = { kty: 'oct', k: 'c2VjcmV0' }

const useless: [keys: unknown[], reason: string][] = [
  [[], 'no usable key: 0 members'],
  [[symmetric], 'no usable key: 1 member: 1 symmetric'],
  [[symmetric, symmetric], 'no usable key: 2 members: 2 symmetric'],
  [[{ ...es, use: 'enc' }, null], 'no usable key: 2 members: 1 for encryption, 1 malformed'],
  [
    [{ ...rs, e: 'AQ' }, {}, { ...rs, e: 'AQ' }],
    'no usable key: 3 members: 2 too weak, 1 of an unknown type',
  ],
]

for (const [keys, reason] of useless) {
  test(`a set without a usable key is refused: ${reason}`, () => {
    assert.throws(() => setOf(...keys), { message: reason })
  })
}

const { publicKeys } = await createTestAuthority()

test('the keys of a test authority are known by their names, after a rotation too', async () => {
  const authority = await createTestAuthority({ algorithm: 'RS256' })
  assert.equal(areTestKeys(readKeySet(authority.publicKeys)), true)
  await authority.rotate()
  assert.equal(areTestKeys(readKeySet(authority.publicKeys)), true)
})

for (const kid of ['test-1', 'x-fastify-tenant-auth-test-1', undefined]) {
  test(`a key named ${kid} is none of theirs`, () => {
    const keys = publicKeys.keys.map((key) => ({ ...key, kid }))
    assert.equal(areTestKeys(readKeySet({ keys })), false)
  })
}
