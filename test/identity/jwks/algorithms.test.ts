import assert from 'node:assert/strict'
import { constants, createSecretKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { test } from 'node:test'
import {
  algorithmsOf,
  proofAlgorithms,
  supportedAlgorithms,
  verifySignature,
} from '../../../lib/identity/jwks/algorithms.ts'

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' })
const p521 = generateKeyPairSync('ec', { namedCurve: 'P-521' })
const ed25519 = generateKeyPairSync('ed25519')

const INPUT = 'eyJhbGciOiJub25lIn0.e30'

type Pair = { publicKey: KeyObject; privateKey: KeyObject }

const rs = (hash: string, pair: Pair = rsa) => sign(hash, Buffer.from(INPUT), pair.privateKey)
const ps = (hash: string, saltLength: number) =>
  sign(hash, Buffer.from(INPUT), {
    key: rsa.privateKey,
    padding: constants.RSA_PKCS1_PSS_PADDING,
    saltLength,
  })
const es = (
  hash: string,
  { privateKey: key }: Pair,
  dsaEncoding: 'ieee-p1363' | 'der' = 'ieee-p1363',
) => sign(hash, Buffer.from(INPUT), { key, dsaEncoding })

const table: [name: string, pair: Pair, signature: Buffer][] = [
  ['RS256', rsa, rs('sha256')],
  ['RS384', rsa, rs('sha384')],
  ['RS512', rsa, rs('sha512')],
  ['PS256', rsa, ps('sha256', 32)],
  ['PS384', rsa, ps('sha384', 48)],
  ['PS512', rsa, ps('sha512', 64)],
  ['ES256', p256, es('sha256', p256)],
  ['ES384', p384, es('sha384', p384)],
  ['ES512', p521, es('sha512', p521)],
  ['EdDSA', ed25519, sign(null, Buffer.from(INPUT), ed25519.privateKey)],
  ['Ed25519', ed25519, sign(null, Buffer.from(INPUT), ed25519.privateKey)],
]

const classical = table.map(([name]) => name)

test('every algorithm of the table is supported, and the only others are post-quantum', () => {
  const others = supportedAlgorithms.filter((name) => !classical.includes(name))
  assert.deepEqual(supportedAlgorithms.slice(0, classical.length), classical)
  const found = others.every((name) => /^ML-DSA-(44|65|87)$/.test(name))
  assert.ok(found, others.join())
  assert.equal(Object.isFrozen(supportedAlgorithms), true)
})

for (const [name, { publicKey }, signature] of table) {
  test(`${name} verifies its own signature and no bent one`, () => {
    assert.equal(verifySignature(name, publicKey, INPUT, signature), true)
    assert.equal(verifySignature(name, publicKey, `${INPUT}A`, signature), false)
    assert.equal(verifySignature(name, publicKey, '', signature), false)
    for (const at of [0, signature.length >> 1, signature.length - 1]) {
      const bent = Buffer.from(signature)
      bent[at] = (bent[at] ?? 0) ^ 1
      assert.equal(verifySignature(name, publicKey, INPUT, bent), false, `byte ${at}`)
    }
  })

  test(`${name} refuses a signature of another length`, () => {
    const lengths = [
      Buffer.alloc(0),
      Buffer.alloc(1),
      signature.subarray(1),
      signature.subarray(0, -1),
      Buffer.concat([signature, Buffer.alloc(1)]),
      Buffer.concat([Buffer.alloc(1), signature]),
      Buffer.alloc(100_000),
    ]
    for (const bent of lengths) {
      assert.equal(verifySignature(name, publicKey, INPUT, bent), false, `${bent.length} bytes`)
    }
  })

  test(`${name} refuses a signature of zeros and one of ones`, () => {
    for (const byte of [0, 0xff]) {
      const fake = Buffer.alloc(signature.length, byte)
      assert.equal(verifySignature(name, publicKey, INPUT, fake), false)
    }
  })

  test(`${name} does not verify a signature of another algorithm of its key type`, () => {
    // With other key types, the key set distinguishes them.
    for (const [other, pair] of table) {
      const same = new Set([name, other])
      if (name === other || (same.has('EdDSA') && same.has('Ed25519'))) continue
      if (pair.publicKey.asymmetricKeyType !== publicKey.asymmetricKeyType) continue
      assert.equal(verifySignature(other, publicKey, INPUT, signature), false, other)
    }
  })

  test(`${name} with a key of another type is refused without an exception`, () => {
    const keys = [rsa, p256, p384, p521, ed25519].map((pair) => pair.publicKey)
    for (const key of [...keys, createSecretKey(Buffer.alloc(32))]) {
      if (key.equals(publicKey)) continue
      assert.equal(verifySignature(name, key, INPUT, signature), false)
    }
  })
}

test('an ECDSA signature in DER is refused', () => {
  for (let round = 0; round < 200; round++) {
    // DER has 70 to 72 bytes. The rare one of 64 would be read as the other encoding.
    const der = es('sha256', p256, 'der')
    assert.equal(verifySignature('ES256', p256.publicKey, INPUT, der), false)
  }
})

test('an RSA signature without its leading zero is refused (RFC 8017 §8.1.2)', () => {
  const withLeadingZero = (sign: () => Buffer): Buffer => {
    // One signature in 256 begins with a zero.
    for (;;) {
      const signature = sign()
      if (signature[0] === 0) return signature
    }
  }
  const pss = withLeadingZero(() => ps('sha256', 32))
  assert.equal(verifySignature('PS256', rsa.publicKey, INPUT, pss), true)
  assert.equal(verifySignature('PS256', rsa.publicKey, INPUT, pss.subarray(1)), false)
})

test('a modulus of 2050 bits has signatures of 257 bytes', () => {
  const pair = generateKeyPairSync('rsa', { modulusLength: 2050 })
  const signature = rs('sha256', pair)
  assert.equal(signature.length, 257)
  assert.equal(verifySignature('RS256', pair.publicKey, INPUT, signature), true)
})

test('a PSS salt of another length than the hash is refused (RFC 7518 §3.5)', () => {
  for (const [name, hash, salts] of [
    ['PS256', 'sha256', [0, 20, 31, 33, 64]],
    ['PS512', 'sha512', [0, 32, 63, 65]],
  ] as const) {
    for (const salt of salts) {
      assert.equal(verifySignature(name, rsa.publicKey, INPUT, ps(hash, salt)), false, `${salt}`)
    }
  }
})

test('an algorithm that we do not know verifies nothing', () => {
  for (const name of [
    'none',
    'HS256',
    'ES256K',
    'rs256',
    '',
    '__proto__',
    'constructor',
    'toString',
  ]) {
    assert.equal(verifySignature(name, rsa.publicKey, INPUT, rs('sha256')), false, name)
  }
})

const fits: [key: { kty: string; crv?: string; alg?: string }, algorithms: string[]][] = [
  [{ kty: 'RSA' }, ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512']],
  [{ kty: 'RSA', alg: 'RS512' }, ['RS512']],
  [{ kty: 'RSA', alg: 'ES256' }, []],
  [{ kty: 'RSA', crv: 'P-256' }, []],
  [{ kty: 'EC', crv: 'P-256' }, ['ES256']],
  [{ kty: 'EC', crv: 'P-384' }, ['ES384']],
  [{ kty: 'EC', crv: 'P-521' }, ['ES512']],
  [{ kty: 'EC', crv: 'P-384', alg: 'ES256' }, []],
  [{ kty: 'EC' }, []],
  [{ kty: 'OKP', crv: 'Ed25519' }, ['EdDSA', 'Ed25519']],
  [{ kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA' }, ['EdDSA']],
  [{ kty: 'OKP', crv: 'Ed448' }, []],
  [{ kty: 'oct' }, []],
  [{ kty: 'AKP' }, []],
  [{ kty: 'AKP', alg: 'RS256' }, []],
  [{ kty: 'RSA', alg: 'ML-DSA-44' }, []],
  [{ kty: '' }, []],
  [{ kty: '__proto__' }, []],
]

for (const [key, algorithms] of fits) {
  test(`a key with ${JSON.stringify(key)} serves ${algorithms.join(', ') || 'nothing'}`, () => {
    assert.deepEqual(algorithmsOf(key), algorithms)
  })
}

test('proofs have all of them but those whose keys and signatures are too long', () => {
  const short = supportedAlgorithms.filter((name) => !/^ML-DSA-\d+$/.test(name))
  assert.deepEqual(proofAlgorithms, short)
})
