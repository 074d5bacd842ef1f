import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  isCostlyKey,
  isCostlySet,
  isWeakKey,
  type KeyFlaw,
} from '../../../lib/identity/jwks/jwk.ts'
import { imported } from '../../helpers/tokens/forge.ts'
import { readKey } from '../../helpers/tokens/read-key.ts'

/** A public key of that size. Nobody has to hold its private key. */
function rsaOf(bits: number, exponent: bigint) {
  const n = uint(2n ** BigInt(bits) - 1n)
  return createPublicKey({ key: { kty: 'RSA', n, e: uint(exponent) }, format: 'jwk' })
}

/** RFC 7518 §2 Base64urlUInt. */
function uint(value: bigint): string {
  const hex = value.toString(16)
  return Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex').toString('base64url')
}

const LONG = 2n ** 64n - 1n
const LONGEST = 2n ** 256n - 1n

test('the keys that servers publish, and far longer ones, are not costly', () => {
  for (const bits of [2048, 3072, 4096, 8192]) {
    assert.equal(isCostlyKey(rsaOf(bits, 65_537n)), false, `${bits} bits`)
  }
  assert.equal(isCostlyKey(rsaOf(4096, LONG)), false)
  assert.equal(isCostlyKey(rsaOf(2048, LONGEST)), false)
  assert.equal(isCostlyKey(generateKeyPairSync('ed25519').publicKey), false)
  assert.equal(isCostlyKey(generateKeyPairSync('ec', { namedCurve: 'P-521' }).publicKey), false)
})

test('with half the modulus, an exponent of four times the length costs as much', () => {
  assert.equal(isCostlyKey(rsaOf(4096, 2n ** 68n - 1n)), false)
  assert.equal(isCostlyKey(rsaOf(4096, 2n ** 68n + 1n)), true)
})

test('a long modulus, and a long exponent with a modulus that is not short, are costly', () => {
  for (const bits of [8193, 16_384]) assert.equal(isCostlyKey(rsaOf(bits, 65_537n)), true)
  assert.equal(isCostlyKey(rsaOf(16_384, LONG)), true)
  assert.equal(isCostlyKey(rsaOf(8192, LONG)), true)
  assert.equal(isCostlyKey(rsaOf(3072, LONGEST)), true)
})

test('a modulus of other than whole blocks costs twice as much', () => {
  for (const [bits, exponent] of [
    [8128, 65_537n],
    [4032, LONG],
    [3008, 2n ** 123n - 1n],
    [2049, LONGEST],
  ] as const) {
    assert.equal(isCostlyKey(rsaOf(bits, exponent)), true, `${bits} bits`)
  }
  for (const bits of [1025, 2047, 2049, 3000, 5760]) {
    assert.equal(isCostlyKey(rsaOf(bits, 65_537n)), false, `${bits} bits`)
  }
})

/** So many keys of a curve cost no more than a set may. */
const SETS = [
  ['P-521', 10],
  ['P-384', 21],
  ['P-256', 150],
  [undefined, 150],
] as const

for (const [curve, most] of SETS) {
  test(`${most} keys on ${curve ?? 'no curve'} are not too costly together, and one more is`, () => {
    const curves = Array.from({ length: most }, () => curve)
    assert.deepEqual([isCostlySet(curves), isCostlySet([...curves, curve])], [false, true])
  })
}

const jwkOf = (pair: { publicKey: KeyObject; privateKey: KeyObject }) =>
  imported(pair).publicKey.export({ format: 'jwk' })

const rsaPair = imported(generateKeyPairSync('rsa', { modulusLength: 2048 }))
const rsa = jwkOf(rsaPair)
const rsa2047 = jwkOf(generateKeyPairSync('rsa', { modulusLength: 2047 }))
const rsa1024 = jwkOf(generateKeyPairSync('rsa', { modulusLength: 1024 }))
const rsaThree = jwkOf(generateKeyPairSync('rsa', { modulusLength: 2048, publicExponent: 3 }))
const ecPair = imported(generateKeyPairSync('ec', { namedCurve: 'P-256' }))
const p256 = jwkOf(ecPair)
const p384 = jwkOf(generateKeyPairSync('ec', { namedCurve: 'P-384' }))
const p521 = jwkOf(generateKeyPairSync('ec', { namedCurve: 'P-521' }))
const k256 = jwkOf(generateKeyPairSync('ec', { namedCurve: 'secp256k1' }))
const edPair = imported(generateKeyPairSync('ed25519'))
const ed25519 = jwkOf(edPair)
const ed448 = jwkOf(generateKeyPairSync('ed448'))
const x25519 = jwkOf(generateKeyPairSync('x25519'))

const RSA_ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512']

const nulls = Object.fromEntries(
  [
    ...['use', 'key_ops', 'alg', 'crv', 'n', 'e', 'x', 'y', 'pub', 'x5c', 'x5t', 'k'],
    ...['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'priv'],
  ].map((name) => [name, null]),
)

const used: [what: string, member: object, algorithms: string[]][] = [
  ['an RSA key', rsa, RSA_ALGORITHMS],
  ['an RSA key for one algorithm', { ...rsa, alg: 'PS384' }, ['PS384']],
  ['a key on P-256', p256, ['ES256']],
  ['a key on P-384', p384, ['ES384']],
  ['a key on P-521', p521, ['ES512']],
  ['a key on Ed25519', ed25519, ['EdDSA', 'Ed25519']],
  ['a key on Ed25519 for EdDSA', { ...ed25519, alg: 'EdDSA' }, ['EdDSA']],
  ['a key on Ed25519 for Ed25519', { ...ed25519, alg: 'Ed25519' }, ['Ed25519']],
  ['a key for signatures', { ...p256, use: 'sig' }, ['ES256']],
  ['a key for verifying', { ...p256, key_ops: ['verify'] }, ['ES256']],
  ['a key for verifying and more', { ...p256, key_ops: ['wrapKey', 'verify'] }, ['ES256']],
  [
    'a key with a certificate',
    { ...p256, x5c: ['MIIB'], x5t: 'AA', x5u: 'http://127.0.0.1:1' },
    ['ES256'],
  ],
  ['a key with members of its own', { ...p256, iat: 1, 'x-owner': null }, ['ES256']],
  // What .NET's System.Text.Json writes of a key.
  ['a key with empty lists', { ...rsa, use: 'sig', key_ops: [], oth: [], x5c: [] }, RSA_ALGORITHMS],
  ['a key for no operation', { ...p256, key_ops: [] }, ['ES256']],
  ['a key whose other members are null', { ...nulls, ...p256 }, ['ES256']],
  ['an RSA key whose other members are null', { ...nulls, ...rsa, alg: 'PS256' }, ['PS256']],
  ['an RSA key with zeros before its exponent', { ...rsa, e: 'AAEAAQ' }, RSA_ALGORITHMS],
  ['an RSA key with the largest exponent', { ...rsa, e: uint(2n ** 255n + 1n) }, RSA_ALGORITHMS],
]

for (const [what, member, algorithms] of used) {
  test(`${what} is used for ${algorithms.join(', ')}`, () => {
    const key = readKey({ ...member, kid: 'a' })
    assert.ok(typeof key === 'object', `the key is ${key}`)
    assert.equal(key.kid, 'a')
    assert.deepEqual([...key.algorithms], algorithms)
    assert.equal(key.key.type, 'public')
  })
}

const privateRsa = rsaPair.privateKey.export({ format: 'jwk' })
const privateEc = ecPair.privateKey.export({ format: 'jwk' })
const privateEd = edPair.privateKey.export({ format: 'jwk' })

const unused: [what: string, member: unknown][] = [
  // RFC 7517 §4.2, §4.3: what a key is for
  ['for encryption', { ...rsa, use: 'enc' }],
  ['of another use', { ...rsa, use: 'SIG' }],
  ['with an empty use', { ...rsa, use: '' }],
  ['with a use that is a list', { ...rsa, use: ['sig'] }],
  ['for signing only', { ...p256, key_ops: ['sign'] }],
  ['for signing only, beside empty lists', { ...p256, key_ops: ['sign'], oth: [], x5c: [] }],
  ['for an empty operation', { ...p256, key_ops: [''] }],
  ['with operations that are an object', { ...p256, key_ops: {} }],
  ['with an operation that is a string', { ...p256, key_ops: 'verify' }],
  ['with an operation twice', { ...p256, key_ops: ['verify', 'verify'] }],
  ['with another operation twice', { ...p256, key_ops: ['sign', 'verify', 'sign'] }],
  ['with an operation that is a number', { ...p256, key_ops: ['verify', 1] }],
  ['with an operation that is null', { ...p256, key_ops: [null, 'verify'] }],
  ['with an operation that is a list', { ...p256, key_ops: ['verify', ['verify']] }],
  // private or symmetric
  ['private, RSA', privateRsa],
  ['private, EC', privateEc],
  ['private, Ed25519', privateEd],
  ['private and emptied', { ...p256, d: '' }],
  ['private, beside a null', { ...privateEc, key_ops: null }],
  ['private, with an empty list', { ...p256, d: [] }],
  ['private, with false', { ...p256, d: false }],
  ['with other primes', { ...rsa, oth: [{}] }],
  ['with other primes that are null', { ...rsa, oth: [null] }],
  ['with other primes that are an object', { ...rsa, oth: {} }],
  ['symmetric, with an empty list', { ...rsa, k: [] }],
  ...['p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv'].map((name): [string, unknown] => [
    `with the private member ${name}`,
    { ...rsa, [name]: 'AQ' },
  ]),
  ['symmetric', { kty: 'oct', k: 'c2VjcmV0' }],
  ['symmetric without its secret', { kty: 'oct', alg: 'HS256' }],
  // weak
  ['RSA of 1024 bits', rsa1024],
  ['RSA of 2047 bits', rsa2047],
  ['RSA of 1024 bits behind zeros', { ...rsa1024, n: zerosBefore(rsa1024.n) }],
  ['RSA with exponent 0', { ...rsa, e: 'AA' }],
  ['RSA with exponent 1', { ...rsa, e: 'AQ' }],
  ['RSA with exponent 1 behind zeros', { ...rsa, e: 'AAAB' }],
  ['RSA with exponent 2', { ...rsa, e: 'Ag' }],
  ['RSA with exponent 3', rsaThree],
  ['RSA with exponent 65535', { ...rsa, e: uint(65_535n) }],
  ['RSA with exponent 65536', { ...rsa, e: uint(65_536n) }],
  ['RSA with exponent 65538', { ...rsa, e: uint(65_538n) }],
  ['RSA with an exponent of 257 bits', { ...rsa, e: uint(2n ** 256n + 1n) }],
  ['RSA with an exponent as large as its modulus', { ...rsa, e: rsa.n }],
  ['RSA with an empty exponent', { ...rsa, e: '' }],
  ['RSA with an empty modulus', { ...rsa, n: '' }],
  ['RSA without an exponent', { kty: 'RSA', n: rsa.n }],
  ['RSA without a modulus', { kty: 'RSA', e: rsa.e }],
  // alg, kty and crv must fit
  ['RSA for ES256', { ...rsa, alg: 'ES256' }],
  ['RSA for HS256', { ...rsa, alg: 'HS256' }],
  ['RSA for none', { ...rsa, alg: 'none' }],
  ['RSA for encryption by its alg', { ...rsa, alg: 'RSA-OAEP' }],
  ['RSA with a curve', { ...rsa, crv: 'P-256' }],
  ['P-256 for ES384', { ...p256, alg: 'ES384' }],
  ['P-256 for RS256', { ...p256, alg: 'RS256' }],
  ['P-256 for es256', { ...p256, alg: 'es256' }],
  ['P-256 that says P-384', { ...p256, crv: 'P-384' }],
  ['P-256 that says p-256', { ...p256, crv: 'p-256' }],
  ['P-256 of another type', { ...p256, kty: 'OKP' }],
  ['P-256 of type ec', { ...p256, kty: 'ec' }],
  ['P-256 for an inherited name', { ...p256, alg: 'constructor' }],
  ['Ed25519 for ES256', { ...ed25519, alg: 'ES256' }],
  ['Ed25519 of type EC', { ...ed25519, kty: 'EC' }],
  ['on secp256k1', k256],
  ['on Ed448', ed448],
  ['on X25519', x25519],
  ['AKP without an algorithm', { kty: 'AKP', pub: 'AQ' }],
  ['AKP for an algorithm of others', { kty: 'AKP', alg: 'ES256', pub: 'AQ' }],
  // material that is no key
  ['off its curve', { ...p256, y: p256.x }],
  ['at the origin of its curve', { ...p256, x: zeros(32), y: zeros(32) }],
  ['too short for its curve', { ...p256, x: 'AA', y: 'AA' }],
  ['EC without y', { kty: 'EC', crv: 'P-256', x: p256.x }],
  ['EC without x', { kty: 'EC', crv: 'P-256', y: p256.y }],
  ['EC without a curve', { kty: 'EC', x: p256.x, y: p256.y }],
  ['Ed25519 without x', { kty: 'OKP', crv: 'Ed25519' }],
  ['Ed25519 of 31 bytes', { ...ed25519, x: zeros(31) }],
  ['Ed25519 of 33 bytes', { ...ed25519, x: zeros(33) }],
  // members of a wrong type
  ['with a kid that is a number', { ...p256, kid: 1 }],
  ['with a kid that is a list', { ...p256, kid: [] }],
  ['with an alg that is an empty list', { ...p256, alg: [] }],
  ['with a type that is null', { ...p256, kty: null }],
  ['with a coordinate that is null', { ...p256, y: null }],
  ['with an alg that is a list', { ...p256, alg: ['ES256'] }],
  ['with a type that is a list', { ...p256, kty: ['EC'] }],
  ['with a coordinate that is a number', { ...p256, x: 1 }],
  ['with an exponent that is a number', { ...rsa, e: 65_537 }],
  ['without a type', { crv: p256.crv, x: p256.x, y: p256.y }],
  ['whose members are inherited', Object.create(p256)],
  ['null', null],
  ['a string', 'RSA'],
  ['a number', 1],
  ['a list', [p256]],
  ['an empty object', {}],
]

for (const [what, member] of unused) {
  test(`a member that is ${what} is not used`, () => {
    assert.equal(typeof readKey(member), 'string')
  })
}

/** The reason for a member that is not used, one for each kind. */
const flaws: [flaw: KeyFlaw, members: unknown[]][] = [
  ['malformed', [null, 'RSA', { ...p256, x: 1 }, { ...p256, kid: 1 }, { ...p256, y: p256.x }]],
  ['symmetric', [{ kty: 'oct' }, { ...rsa, k: 'AQ' }]],
  ['private', [privateRsa, privateEc, privateEd, { ...p256, d: '' }, { ...rsa, oth: [{}] }]],
  ['for encryption', [{ ...rsa, use: 'enc' }]],
  [
    'not for verifying',
    [
      { ...rsa, use: 'SIG' },
      { ...rsa, key_ops: ['sign'] },
    ],
  ],
  ['of an unknown type', [{}, { ...p256, kty: 'ec' }, Object.create(p256)]],
  ['for no known algorithm', [k256, ed448, { ...rsa, alg: 'RSA-OAEP' }, { kty: 'AKP', pub: 'AQ' }]],
  ['too weak', [rsa1024, rsaThree]],
  ['too costly', [{ ...rsa, n: Buffer.alloc(2048, 0xff).toString('base64url') }]],
]

for (const [flaw, members] of flaws) {
  test(`for a member that is ${flaw} that very reason is given`, () => {
    for (const member of members) assert.equal(readKey(member), flaw)
  })
}

/** RFC 8032: the points of small order, and other encodings of them that a decoder may accept. */
const SMALL_ORDER = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
]

for (const hex of SMALL_ORDER) {
  test(`an Ed25519 key with which anyone could sign is not used: ${hex.slice(0, 8)}…`, () => {
    const point = Buffer.from(hex, 'hex')
    for (const sign of [0, 0x80]) {
      point[31] = ((point[31] ?? 0) & 0x7f) | sign
      const member = { kty: 'OKP', crv: 'Ed25519', x: point.toString('base64url') }
      assert.equal(readKey(member), 'too weak')
    }
  })
}

test('an imported RSA key is strong, in any spelling', () => {
  const n = fc.constantFrom(rsa.n, rsa1024.n, rsa2047.n)
  const letters = fc.string({ unit: fc.constantFrom(...'AQBgw_-+/= \n\0Ł') })
  let imported = 0
  fc.assert(
    fc.property(n, letters, letters, (modulus, before, after) => {
      for (const e of [before, `${before}AQ${after}`, `AQAB${after}`]) {
        const key = readKey({ kty: 'RSA', n: modulus, e })
        if (typeof key === 'string') continue
        imported += 1
        const { modulusLength = 0, publicExponent = 0n } = key.key.asymmetricKeyDetails ?? {}
        assert.ok(modulusLength >= 2048, `${modulusLength} bits`)
        assert.ok(publicExponent >= 65_537n && publicExponent % 2n === 1n, `${publicExponent}`)
      }
    }),
    { numRuns: 500 },
  )
  assert.equal(imported > 0, true)
})

test('any JSON is read without an error', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      readKey(value)
      readKey({ ...rsa, use: value })
      readKey({ ...rsa, key_ops: value })
      readKey({ ...rsa, e: value })
      readKey({ ...rsa, n: value })
    }),
    { numRuns: 500 },
  )
})

test('two keys have one fingerprint if material, kid and algorithms are the same', () => {
  const fingerprint = (member: object) => {
    const key = readKey(member)
    assert.ok(typeof key === 'object', `the key is ${key}`)
    return key.fingerprint
  }
  const plain = fingerprint(p256)
  const other = jwkOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }))
  const { kty, crv, x, y } = p256
  assert.equal(fingerprint({ y, x, crv, kty }), plain)
  assert.equal(fingerprint({ ...p256, alg: 'ES256' }), plain, 'it serves no other algorithm')
  assert.equal(fingerprint({ ...p256, use: 'sig', x5t: 'AA' }), plain)
  assert.equal(fingerprint({ ...p256, kid: null, alg: null, key_ops: [] }), plain)
  assert.notEqual(fingerprint({ ...p256, kid: 'a' }), plain)
  assert.notEqual(fingerprint({ ...p256, kid: '' }), plain)
  assert.notEqual(fingerprint(other), plain)
  assert.notEqual(fingerprint({ ...rsa, alg: 'RS256' }), fingerprint(rsa))
})

function zeros(bytes: number): string {
  return Buffer.alloc(bytes).toString('base64url')
}

function zerosBefore(n = ''): string {
  return Buffer.concat([Buffer.alloc(128), Buffer.from(n, 'base64url')]).toString('base64url')
}

test('a key on P-256 is not weak where its coordinate reads like a point of small order', () => {
  const x = 'Ejm6tUI25vXO0PtQJZ_SM92FpnMF3KEOMe4lVpISuZs'
  const y = `AQ${'A'.repeat(41)}`
  const key = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' })
  assert.equal(isWeakKey(key), false)
})
