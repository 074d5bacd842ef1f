import { createHmac, generateKeyPairSync } from 'node:crypto'
import {
  HOLDER,
  hashOf,
  type ProofKey,
  type ProofParts,
  PUBLIC,
  proofKey,
  proofOf,
} from './bound.ts'
import { encode, imported, partsOf } from './forge.ts'

/** A proof that must be refused. */
export interface BadProof {
  readonly what: string
  /** Of proofs with one fault, the log has one reason, and no other fault has it. */
  readonly fault: string
  readonly parts: ProofParts
}

const row = (fault: string, what: string, parts: ProofParts): BadProof => ({ what, fault, parts })

/** One row for each value of a header parameter. */
const headers = (name: string, values: readonly unknown[], fault = name): BadProof[] =>
  values.map((value) => row(fault, `${name} ${shown(value)}`, { header: { [name]: value } }))

const claims = (name: string, values: readonly unknown[], fault = name): BadProof[] =>
  values.map((value) => row(fault, `${name} ${shown(value)}`, { claims: { [name]: value } }))

const shown = (value: unknown) =>
  value === undefined ? 'missing' : JSON.stringify(value).slice(0, 60)

/** Values that are no text. */
const NO_TEXT = [undefined, null, 5, true, [], {}]

const stranger = await proofKey()
const now = Math.floor(Date.now() / 1000)
const secret = HOLDER.pair.privateKey.export({ format: 'jwk' })

/** Members of private and of symmetric keys (RFC 7518 §6), with any value. */
const PRIVATE = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'].flatMap((name) =>
  [secret.d, '', 'AQAB', null, 0, false, []].map((value) =>
    row('private', `a key with ${name} ${value === secret.d ? 'its own' : shown(value)}`, {
      header: { jwk: { ...HOLDER.jwk, [name]: value } },
    }),
  ),
)

const TEXT: readonly BadProof[] = [
  row('missing', 'no text', { bend: () => '' }),
  row('text', 'one letter', { bend: () => 'x' }),
  row('text', 'two dots', { bend: () => '..' }),
  row('text', 'two parts', { bend: (proof) => partsOf(proof).slice(0, 2).join('.') }),
  row('text', 'four parts', { bend: (proof) => `${proof}.` }),
  row('text', 'five parts', { bend: (proof) => `${proof}.x.x` }),
  row('text', 'padding', { bend: (proof) => `${proof}==` }),
  row('text', 'padding of the claims', { bend: (proof) => proof.replace(/\.([^.]+)$/, '=.$1') }),
  row('text', 'a space', { bend: (proof) => proof.replace('.', ' .') }),
  row('text', 'a tab', { bend: (proof) => proof.replace('.', '\t.') }),
  row('text', 'base64 in place of base64url', { bend: (proof) => proof.replace(/\./g, '.+/') }),
  row('text', 'a comma at its end', { bend: (proof) => `${proof},` }),
  row('text', 'two of them', { bend: (proof) => `${proof}, ${proof}` }),
  row('text', 'two of them without a space', { bend: (proof) => `${proof},${proof}` }),
  row('text', 'quotes', { bend: (proof) => `"${proof}"` }),
  row('text', 'the scheme before it', { bend: (proof) => `DPoP ${proof}` }),
  row('text', 'a header that is a list', { header: '[]' }),
  row('text', 'a header that is null', { header: 'null' }),
  row('text', 'a header that is no JSON', { header: '{' }),
  row('text', 'a header that is no UTF-8', { header: Buffer.from([0x7b, 0xff, 0x7d]) }),
  row('text', 'claims that are a list', { claims: '[]' }),
  row('text', 'claims that are null', { claims: 'null' }),
  row('text', 'claims that are a number', { claims: '7' }),
  row('text', 'claims that are no JSON', { claims: '{"iat":' }),
  row('text', 'claims that are no UTF-8', { claims: Buffer.from([0x7b, 0xff, 0x7d]) }),
  row('text', 'claims that are nothing', { claims: '' }),
  row('text', 'claims with too many members', { claims: { more: Array(65).fill(0) } }),
  row('text', 'a signature that is nothing', { bend: (proof) => proof.replace(/[^.]+$/, '') }),
]

const HEADERS: readonly BadProof[] = [
  ...headers('typ', ['DPoP+JWT', 'application/dpop+jwt', 'jwt', 'JWT', 'at+jwt', 'dpop', '']),
  ...headers('typ', ['dpop+jwt ', ...NO_TEXT, ['dpop+jwt']]),
  ...headers('alg', ['none', 'None', 'HS256', 'HS512', 'XS1', 'es256', '', 'RSA-OAEP', 'ES256K']),
  ...headers('alg', [...NO_TEXT, ['ES256']]),
  row('alg', 'alg none and no signature', {
    header: { alg: 'none' },
    bend: (proof) => proof.replace(/[^.]+$/, ''),
  }),
  row('alg', 'HS256 with the public key as the secret', {
    header: { alg: 'HS256' },
    bend: (proof) => {
      const input = proof.slice(0, proof.lastIndexOf('.'))
      const mac = createHmac('sha256', JSON.stringify(HOLDER.jwk)).update(input)
      return `${input}.${mac.digest('base64url')}`
    },
  }),
  ...headers('alg', ['ES384', 'RS256', 'PS256', 'EdDSA'], 'alg of another key'),
  ...headers('crit', [[], ['exp'], ['b64'], ['jwk'], null, 'exp', {}, false], 'crit'),
  row('crit', 'b64 false', { header: { b64: false, crit: ['b64'] } }),
  row('crit', 'b64 true', { header: { b64: true, crit: ['b64'] } }),
  row('crit', 'b64 without crit', { header: { b64: true } }),
  ...headers('jwk', [...NO_TEXT, '', [HOLDER.jwk], JSON.stringify(HOLDER.jwk)], 'jwk'),
  row('jwk', 'a symmetric key', {
    header: { alg: 'HS256', jwk: { kty: 'oct', k: 'c2VjcmV0' } },
  }),
  row('jwk', 'a symmetric key of another alg', {
    header: { jwk: { kty: 'oct', k: 'c2VjcmV0' } },
  }),
  row('jwk', 'a key of an unknown type', { header: { jwk: { ...HOLDER.jwk, kty: 'EX' } } }),
  row('jwk', 'a key without a type', { header: { jwk: { ...HOLDER.jwk, kty: undefined } } }),
  row('jwk', 'a key on another curve', { header: { jwk: { ...HOLDER.jwk, crv: 'P-384' } } }),
  row('jwk', 'a key without y', { header: { jwk: { ...HOLDER.jwk, y: undefined } } }),
  row('jwk', 'a key off its curve', { header: { jwk: { ...HOLDER.jwk, y: HOLDER.jwk.x } } }),
  row('jwk', 'a key for no operation', { header: { jwk: { ...HOLDER.jwk, key_ops: [] } } }),
  ...['use', 'key_ops', 'alg', 'kid'].map((name) =>
    row('jwk', `a key whose ${name} is null`, { header: { jwk: { ...HOLDER.jwk, [name]: null } } }),
  ),
  row('jwk', 'a key whose x is a list', { header: { jwk: { ...HOLDER.jwk, x: [HOLDER.jwk.x] } } }),
]

const CLAIMS: readonly BadProof[] = [
  ...claims('htm', ['get', 'Get', 'POST', 'HEAD', '', 'GET ', ' GET', 'GET,POST', '*', ['GET']]),
  ...claims('htm', NO_TEXT),
  ...claims('htu', [`${PUBLIC}/t/acme`, `${PUBLIC}/me/`, PUBLIC, '/me', 'me', '', '*', 'null']),
  ...claims('htu', [...NO_TEXT, [`${PUBLIC}/me`], 'https://', '//api.test/me', 'api.test/me']),
  ...claims('iat', [
    '1800000000',
    '',
    null,
    undefined,
    true,
    [],
    {},
    [1_800_000_000],
    -1,
    0,
    1e300,
  ]),
  // Each of them becomes the time of now where it is compared.
  ...[String(now), [now], [String(now)], ` ${now} `, `0x${now.toString(16)}`].map((iat) =>
    row('iat', `iat ${JSON.stringify(iat).replace(/\d{9,}/, 'now')}`, { claims: { iat } }),
  ),
  row('iat', 'iat without an end', {
    claims: `{"jti":"x","htm":"GET","htu":"${PUBLIC}/me","iat":1e999,"ath":""}`,
  }),
  ...claims('jti', ['', ...NO_TEXT, ['x'], 'x'.repeat(257), 'x'.repeat(1000)]),
  ...claims('ath', ['', ...NO_TEXT, hashOf(''), hashOf('another token')]),
]

/** Faults that are made of the right `ath`, which only the request knows. */
export const BENT_HASHES: readonly [what: string, bend: (token: string) => unknown][] = [
  ['padding', (token) => `${hashOf(token)}=`],
  ['hexadecimal', (token) => Buffer.from(hashOf(token), 'base64url').toString('hex')],
  ['base64', (token) => `${Buffer.from(hashOf(token), 'base64url').toString('base64')}`],
  ['one letter too few', (token) => hashOf(token).slice(0, -1)],
  ['one letter too many', (token) => `${hashOf(token)}A`],
  ['a list', (token) => [hashOf(token)]],
  ['of the whole header', (token) => hashOf(`DPoP ${token}`)],
  ['of the token and a space', (token) => hashOf(`${token} `)],
  ['of the token in lower case', (token) => hashOf(token.toLowerCase())],
  ['the token itself', (token) => token],
]

const SIGNATURES: readonly BadProof[] = [
  row('signature', 'the signature of a stranger', { signer: stranger.pair }),
  row('signature', 'a bent signature', { bend: (proof) => `${proof.slice(0, -8)}AAAAAAAA` }),
  row('signature', 'a signature of zeros', { bend: withSignature(Buffer.alloc(64)) }),
  row('signature', 'a long signature', { bend: (proof) => `${proof}AAAA` }),
  row('signature', 'a short signature', { bend: (proof) => proof.slice(0, -4) }),
  row('signature', 'the claims of another proof', {
    bend: (proof) => {
      const [header, , signature] = partsOf(proof)
      const other = partsOf(proofOf(HOLDER, { claims: decoded(proof) }))[1]
      const claims = { ...JSON.parse(Buffer.from(other, 'base64url').toString()), more: 1 }
      return `${header}.${encode(claims)}.${signature}`
    },
  }),
]

function decoded(proof: string): object {
  return JSON.parse(Buffer.from(partsOf(proof)[1], 'base64url').toString())
}

function withSignature(signature: Buffer) {
  return (proof: string) => proof.replace(/[^.]+$/, signature.toString('base64url'))
}

/** Each has one fault in a proof of `GET /me` by the holder. */
export const BAD_PROOFS: readonly BadProof[] = [
  ...TEXT,
  ...HEADERS,
  ...PRIVATE,
  ...CLAIMS,
  ...SIGNATURES,
]

/** A key that proves nothing, since others can sign for it too, or that costs too much. */
export interface OddKey {
  readonly what: string
  readonly key: () => Promise<ProofKey>
  /** With what the proof is signed, where it is not the key itself. */
  readonly bend?: (proof: string) => string
}

async function rsa(modulusLength: number, publicExponent: number): Promise<ProofKey> {
  const { proofKeyOf } = await import('./bound.ts')
  const pair = imported(generateKeyPairSync('rsa', { modulusLength, publicExponent }))
  return proofKeyOf({ alg: 'RS256', ...pair })
}

async function writtenKey(jwk: { kty: string; n?: string; e?: string; crv?: string; x?: string }) {
  const { calculateJwkThumbprint } = await import('jose')
  const { pair } = await proofKey(jwk.kty === 'RSA' ? 'RS256' : 'EdDSA')
  return { pair, jwk, thumbprint: await calculateJwkThumbprint(jwk) }
}

const odd = (bytes: number) => {
  const modulus = Buffer.alloc(bytes, 0xc3)
  return modulus.toString('base64url')
}

/** A signature under the exponent 1: the padded hash itself (RFC 8017 §9.2). */
function paddedHash(proof: string): string {
  const input = proof.slice(0, proof.lastIndexOf('.'))
  const info = Buffer.from('3031300d060960864801650304020105000420', 'hex')
  const hash = Buffer.from(hashOf(input), 'base64url')
  const content = Buffer.concat([Buffer.of(0), info, hash])
  const padding = Buffer.alloc(256 - 2 - content.length, 0xff)
  return `${input}.${Buffer.concat([Buffer.of(0, 1), padding, content]).toString('base64url')}`
}

/** Of small order: one signature fits every message under it. */
const NEUTRAL = Buffer.concat([Buffer.of(1), Buffer.alloc(31)])

export const ODD_KEYS: readonly OddKey[] = [
  { what: 'RSA of 1024 bits', key: () => rsa(1024, 65_537) },
  { what: 'RSA of 2040 bits', key: () => rsa(2040, 65_537) },
  { what: 'RSA with the exponent 3', key: () => rsa(2048, 3) },
  {
    what: 'RSA with the exponent 1',
    key: () => writtenKey({ kty: 'RSA', n: odd(256), e: 'AQ' }),
    bend: paddedHash,
  },
  {
    what: 'RSA with an even exponent',
    key: () => writtenKey({ kty: 'RSA', n: odd(256), e: 'AQAC' }),
  },
  { what: 'RSA of 12000 bits', key: () => writtenKey({ kty: 'RSA', n: odd(1500), e: 'AQAB' }) },
  {
    what: 'RSA with an exponent of 256 bits',
    key: () => writtenKey({ kty: 'RSA', n: odd(1024), e: odd(32) }),
  },
  {
    what: 'RSA with an exponent of 4096 bits',
    key: () => writtenKey({ kty: 'RSA', n: odd(256), e: odd(512) }),
  },
  {
    what: 'Ed25519 of small order',
    key: () => writtenKey({ kty: 'OKP', crv: 'Ed25519', x: NEUTRAL.toString('base64url') }),
    bend: (proof) =>
      proof.replace(/[^.]+$/, Buffer.concat([NEUTRAL, Buffer.alloc(32)]).toString('base64url')),
  },
]
