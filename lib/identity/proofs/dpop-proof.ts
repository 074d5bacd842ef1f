import { hash } from 'node:crypto'
import { ERR_AUTH_TOKEN_INVALID, type Mismatch } from '../../errors.ts'
import { isThrown, withoutStack } from '../../platform/runtime/error.ts'
import { flatString } from '../../platform/runtime/flat-string.ts'
import { isTooComplex } from '../../platform/runtime/json-complexity.ts'
import { ownProperty } from '../../platform/runtime/own-property.ts'
import { proofAlgorithms, verifySignature } from '../jwks/algorithms.ts'
import { importWrittenKey, readWrittenKey, thumbprintOf } from '../jwks/jwk.ts'
import { decodeBase64url, parseObject, utf8Text } from '../jwt/compact-jws.ts'
import type { Confirmation, ProofKey } from '../jwt/confirmation.ts'
import { mismatch, tokenRefusal } from '../jwt/token-refusal.ts'
import { isSameAddress } from './proof-address.ts'

/** Most characters of a proof. It is read before its signature is verified. */
const MAX_LENGTH = 4096

/** Most characters of a header that is remembered with its key: of RSA keys up to 4096 bits. */
const MAX_KEPT_HEADER = 1024

/** Most characters of a `jti`. */
const MAX_JTI = 256

/** The facts that a proof must name. */
interface Expected {
  readonly jkt: string
  readonly method: string
  /** The address of the request, as `PublicAddress` gives it. Called after the thumbprint. */
  address(): string | undefined
  readonly token: string
  /** Seconds that `iat` may lie before now, or after. */
  readonly maxAge: number
}

/** A good proof, as a table of proofs knows it. */
export interface GoodProof {
  /** The thumbprint of its key, a dot, and the digest of its `jti`: 87 characters. */
  readonly key: string
  readonly until: Date
}

/**
 * Verifies a DPoP proof (RFC 9449 §4.3), up to the question whether it has been seen before.
 *
 * The order is that of the costs: the thumbprint of the key's text, so that a key of somebody else
 * is not imported, then the claims, then the signature.
 *
 * @param confirmation of the token; it remembers the key
 * @throws ERR_AUTH_TOKEN_INVALID
 */
export function verifyProof(
  proof: string,
  confirmation: Confirmation,
  expected: Expected,
): GoodProof {
  const parts = proof.length > MAX_LENGTH ? [] : proof.split('.')
  const [header = '', payload = '', signature = ''] = parts
  if (parts.length !== 3) throw proofRefusal('longer than 4096 characters, or not three parts')
  const key = keyOf(header, confirmation, expected.jkt)
  const good = readClaims(payload, expected)
  const bytes = asProof(() => decodeBase64url(signature))
  const input = proof.slice(0, header.length + 1 + payload.length)
  if (!verifySignature(key.alg, key.key, input, bytes)) throw proofRefusal('a bad signature')
  return good
}

/**
 * The key of a proof. It is imported once for a token, since that may cost as much as verifying:
 * the thumbprint says that it is the same one.
 */
function keyOf(part: string, confirmation: Confirmation, jkt: string): ProofKey {
  const { proofKey: last } = confirmation
  if (last?.header === part) return last
  const header = readPart(part)
  // RFC 7515 §4.1.11: an extension that is not understood must be refused.
  if (Object.hasOwn(header, 'crit') || Object.hasOwn(header, 'b64')) {
    throw proofRefusal('header extensions are not supported')
  }
  const typ = ownProperty(header, 'typ')
  if (typ !== 'dpop+jwt') throw proofRefusal('another type', mismatch('typ', ['dpop+jwt'], typ))
  const alg = ownProperty(header, 'alg')
  if (typeof alg !== 'string' || !proofAlgorithms.includes(alg)) {
    throw proofRefusal('another algorithm', mismatch('alg', proofAlgorithms, alg))
  }
  const jwk = readWrittenKey(ownProperty(header, 'jwk'))
  if (typeof jwk === 'string') throw proofRefusal(`the key is ${jwk}`)
  if (thumbprintOf(jwk) !== jkt) throw tokenRefusal('the DPoP proof is of another key')
  if (!jwk.algorithms.includes(alg)) throw proofRefusal('the algorithm is not that of the key')
  const imported = last ?? importWrittenKey(jwk)
  if (typeof imported === 'string') throw proofRefusal(`the key is ${imported}`)
  const kept = part.length > MAX_KEPT_HEADER ? null : flatString(part)
  const found = { header: kept, alg, key: imported.key }
  confirmation.proofKey = found
  return found
}

function readClaims(part: string, expected: Expected): GoodProof {
  const { jkt, method, token, maxAge } = expected
  const claims = readPart(part)
  const htm = ownProperty(claims, 'htm')
  if (htm !== method) throw proofRefusal('for another method', mismatch('htm', [method], htm))
  const htu = ownProperty(claims, 'htu')
  const address = expected.address()
  if (address === undefined || typeof htu !== 'string' || !isSameAddress(htu, address)) {
    throw proofRefusal('for another address', mismatch('htu', [address], htu))
  }
  const iat = ownProperty(claims, 'iat')
  const now = Date.now() / 1000
  // `NaN` makes no date, and counts as over.
  const issuedAt = typeof iat === 'number' ? iat : Number.NaN
  const until = new Date(Math.ceil((issuedAt + maxAge) * 1000))
  if (issuedAt - now > maxAge || isOver(until)) {
    const times = [`${now - maxAge} to ${now + maxAge}`]
    const shown = typeof iat === 'number' ? String(iat) : iat
    throw proofRefusal('of another time', mismatch('iat', times, shown))
  }
  if (ownProperty(claims, 'ath') !== digestOf(token)) throw proofRefusal('of another token')
  const jti = ownProperty(claims, 'jti')
  if (typeof jti !== 'string' || jti === '' || jti.length > MAX_JTI) {
    throw proofRefusal('jti is no text of 1 to 256 characters')
  }
  return { key: `${jkt}.${digestOf(jti)}`, until }
}

/** True: a proof is too old. A table may have forgotten it by then. */
export function isOver(until: Date): boolean {
  return !(Date.now() < until.getTime())
}

function digestOf(text: string): string {
  return hash('sha256', text, 'base64url')
}

function readPart(part: string): Record<string, unknown> {
  const text = asProof(() => utf8Text(decodeBase64url(part)))
  if (isTooComplex(text)) throw proofRefusal('it has too many members')
  return asProof(() => parseObject(text))
}

/** A fault in a part of the proof is a fault of the proof. */
function asProof<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw isThrown(error, ERR_AUTH_TOKEN_INVALID) ? proofRefusal(error.reason) : error
  }
}

/**
 * The refusal of a DPoP proof that is bad or missing (RFC 9449 §7.1 `invalid_dpop_proof`). The
 * reason is constant text for the log.
 */
export function proofRefusal(reason: string, mismatch?: () => Mismatch): ERR_AUTH_TOKEN_INVALID {
  const error = 'invalid_dpop_proof'
  return withoutStack(() => new ERR_AUTH_TOKEN_INVALID(`DPoP proof: ${reason}`, mismatch, error))
}
