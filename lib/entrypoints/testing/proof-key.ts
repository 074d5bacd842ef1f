import { hash, KeyObject, randomUUID, sign } from 'node:crypto'
import { calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose'

/** The key of a client that uses DPoP (RFC 9449). */
export interface ProofKey {
  /** For the `cnf` of its tokens (RFC 9449 §6.1). */
  readonly jkt: string
  /**
   * The headers of a request with a token that is bound to the key. Each call makes a fresh proof,
   * because a proof counts once.
   *
   * @param url the address of the request, as clients know it; query and fragment do not count
   */
  headers(token: string, method: string, url: string): ProvedHeaders
}

/** The headers of a request whose sender proves to hold the key of its token. */
export type ProvedHeaders = Readonly<Record<'authorization' | 'dpop', string>>

/**
 * A new key. `generateKeyPairSync` does not make it: in Node 20 the export of such a key as a JWK
 * hangs for ever if garbage is collected at that moment, which happens in one of some thousands.
 */
export async function createProofKey(): Promise<ProofKey> {
  const pair = await generateKeyPair('ES256', { extractable: true })
  const privateKey = KeyObject.from(pair.privateKey)
  const { kty, crv, x, y } = await exportJWK(pair.publicKey)
  const jwk = { kty, crv, x, y }
  const header = encode({ typ: 'dpop+jwt', alg: 'ES256', jwk })
  return {
    jkt: await calculateJwkThumbprint(Object(jwk)),
    headers(token, method, url) {
      const { origin, pathname } = new URL(url)
      const claims = {
        jti: randomUUID(),
        htm: method,
        htu: origin + pathname,
        iat: Math.floor(Date.now() / 1000),
        ath: hash('sha256', token, 'base64url'),
      }
      const input = `${header}.${encode(claims)}`
      const key = { key: privateKey, dsaEncoding: 'ieee-p1363' } as const
      const signature = sign('sha256', Buffer.from(input), key).toString('base64url')
      return { authorization: `DPoP ${token}`, dpop: `${input}.${signature}` }
    },
  }
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url')
}
