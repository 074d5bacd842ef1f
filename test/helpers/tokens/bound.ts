import { createHash, randomUUID } from 'node:crypto'
import { calculateJwkThumbprint, type JWK } from 'jose'
import type { TestTokenOptions, TestUserInfo } from '../../../lib/entrypoints/testing/index.ts'
import { authority, RIGHTS } from '../app/guarded-app.ts'
import { encode, type ForgeKey, forgeKey, type Part, signatureOf } from './forge.ts'

/** The address before the path of all requests, as clients know it. */
export const PUBLIC = 'https://api.test'

/** A key whose holder may be proved. */
export interface ProofKey {
  readonly pair: Pick<ForgeKey, 'alg' | 'privateKey'>
  /** The members that the header of a proof shows. */
  readonly jwk: JWK
  /** By jose. */
  readonly thumbprint: string
}

/** A new key of an algorithm. */
export async function proofKey(alg = 'ES256'): Promise<ProofKey> {
  const pair = forgeKey(alg, 'holder')
  return proofKeyOf(pair)
}

/** A key that was made elsewhere, weak ones too. */
export async function proofKeyOf({
  alg,
  privateKey,
  publicKey,
}: Pick<ForgeKey, 'alg' | 'privateKey' | 'publicKey'>): Promise<ProofKey> {
  const jwk: JWK = Object(publicKey.export({ format: 'jwk' }))
  return { pair: { alg, privateKey }, jwk, thumbprint: await calculateJwkThumbprint(jwk) }
}

/** One key for all tests of a file that need no other. */
export const HOLDER = await proofKey()

/** A member given as `undefined` is left out. */
export interface ProofParts {
  /** A path, or the whole `htu`. */
  readonly url?: string
  readonly method?: string
  /** The token whose hash stands in the proof. */
  readonly token?: string
  /** Over `typ`, `alg` and `jwk`; a text or bytes in place of all. */
  readonly header?: Part
  /** Over `jti`, `htm`, `htu`, `iat` and `ath`; a text or bytes in place of all. */
  readonly claims?: Part
  /** Signs in place of the key itself. */
  readonly signer?: Pick<ForgeKey, 'alg' | 'privateKey'>
  /** The last change of the whole text. */
  readonly bend?: (proof: string) => string
}

/** A proof, genuine but for what is given. */
export function proofOf(key: ProofKey, parts: ProofParts = {}): string {
  const { url = '/me', method = 'GET', token = '', signer = key.pair, bend = same } = parts
  const header = over({ typ: 'dpop+jwt', alg: key.pair.alg, jwk: key.jwk }, parts.header)
  const claims = {
    jti: randomUUID(),
    htm: method,
    htu: url.startsWith('/') ? PUBLIC + withoutQuery(url) : url,
    iat: Math.floor(Date.now() / 1000),
    ath: hashOf(token),
  }
  const input = `${encode(header)}.${encode(over(claims, parts.claims))}`
  return bend(`${input}.${signatureOf(forgeKeyLike(signer), input).toString('base64url')}`)
}

const same = (text: string) => text

const withoutQuery = (url: string) => url.split('?', 1).join()

/** `ath`, and half of a key of `proofSeen`: SHA-256 in base64url. */
export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

function over(usual: object, given: Part = {}): Part {
  return typeof given === 'string' || Buffer.isBuffer(given) ? given : { ...usual, ...given }
}

/** Signing needs the private half only. */
function forgeKeyLike({ alg, privateKey }: Pick<ForgeKey, 'alg' | 'privateKey'>): ForgeKey {
  return { alg, privateKey, kid: '', publicKey: privateKey, publicJwk: { kid: '', alg } }
}

/** A token of the test authority that only the holder of the key may send. */
export function boundToken(
  key: ProofKey = HOLDER,
  claims: TestUserInfo = {},
  options?: TestTokenOptions,
): Promise<string> {
  const cnf = { jkt: key.thumbprint }
  return authority.token({ resources: RIGHTS, cnf, ...claims }, options)
}

/** The headers of a request with a token and its proof. */
export function dpop(token: string, proof: string): { authorization: string; dpop: string } {
  return { authorization: `DPoP ${token}`, dpop: proof }
}

/** The headers of a request by the holder, with a fresh proof but for what is given. */
export function provedBy(
  key: ProofKey,
  token: string,
  parts: ProofParts = {},
): { authorization: string; dpop: string } {
  return dpop(token, proofOf(key, { token, ...parts }))
}
