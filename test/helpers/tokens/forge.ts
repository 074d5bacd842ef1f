import {
  constants,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from 'node:crypto'

/** A key pair of a test, for tokens that no well-behaved library would write. */
export interface ForgeKey {
  readonly alg: string
  readonly kid: string
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
  readonly publicJwk: { readonly kid: string; readonly alg: string; readonly kty?: string }
}

export function forgeKey(alg: string, kid: string): ForgeKey {
  const { publicKey, privateKey } = imported(generate(alg))
  const publicJwk = { ...publicKey.export({ format: 'jwk' }), kid, alg, use: 'sig' }
  return { alg, kid, privateKey, publicKey, publicJwk }
}

interface KeyPair {
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
}

function generate(alg: string): KeyPair {
  if (alg === 'EdDSA' || alg === 'Ed25519') return generateKeyPairSync('ed25519')
  const curve = CURVES.get(alg)
  if (curve !== undefined) return generateKeyPairSync('ec', { namedCurve: curve })
  return generateKeyPairSync('rsa', { modulusLength: 2048 })
}

/**
 * Both keys as if they were read from a file. In Node 20 the export of a key as a JWK hangs for ever
 * if what has generated it is collected as garbage at that moment.
 */
export function imported({ publicKey, privateKey }: KeyPair): KeyPair {
  const spki = publicKey.export({ format: 'der', type: 'spki' })
  const pkcs8 = privateKey.export({ format: 'der', type: 'pkcs8' })
  return {
    publicKey: createPublicKey({ key: spki, format: 'der', type: 'spki' }),
    privateKey: createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' }),
  }
}

const CURVES = new Map([
  ['ES256', 'P-256'],
  ['ES384', 'P-384'],
  ['ES512', 'P-521'],
])

/** A JSON value, or the bytes or text of a part that is not JSON. */
export type Part = object | string | Buffer

export interface Forged {
  /** Added to `alg`, `kid` and `typ: at+jwt`, or replacing them. */
  readonly header?: Part
  readonly payload: Part
}

/** A token of any header and payload, with a genuine signature of the key over them. */
export function forge(key: ForgeKey, { header = {}, payload }: Forged): string {
  const input = `${encode(completed(key, header))}.${encode(payload)}`
  return `${input}.${signatureOf(key, input).toString('base64url')}`
}

function completed(key: ForgeKey, header: Part): Part {
  if (typeof header === 'string' || Buffer.isBuffer(header)) return header
  return { alg: key.alg, kid: key.kid, typ: 'at+jwt', ...header }
}

/** One part of a token: base64url without padding. */
export function encode(part: Part): string {
  if (Buffer.isBuffer(part)) return part.toString('base64url')
  const text = typeof part === 'string' ? part : JSON.stringify(part)
  return Buffer.from(text, 'utf8').toString('base64url')
}

/** The signature of a signing input, with any content. */
export function signatureOf(
  { alg, privateKey }: ForgeKey,
  input: string,
  dsaEncoding: 'ieee-p1363' | 'der' = 'ieee-p1363',
): Buffer {
  const data = Buffer.from(input, 'latin1')
  if (alg.startsWith('Ed')) return sign(null, data, privateKey)
  const hash = `sha${alg.slice(-3)}`
  if (!alg.startsWith('PS')) return sign(hash, data, { key: privateKey, dsaEncoding })
  return sign(hash, data, {
    key: privateKey,
    padding: constants.RSA_PKCS1_PSS_PADDING,
    saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
  })
}

/** A token's three parts. */
export function partsOf(token: string): [header: string, payload: string, signature: string] {
  const [header = '', payload = '', signature = ''] = token.split('.')
  return [header, payload, signature]
}
