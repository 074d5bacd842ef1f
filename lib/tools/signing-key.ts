import { type CryptoKey, exportJWK, generateKeyPair, type JWK } from 'jose'
import { TEST_KEY_NAME } from '../keys/key-set.ts'

/** A key pair whose public half a JWKS publishes. */
export interface SigningKey {
  readonly kid: string
  readonly privateKey: CryptoKey
  readonly publicJwk: JWK
}

/** A fresh key of that algorithm, whose name says what it is. */
export async function createSigningKey(algorithm: string, serial: number): Promise<SigningKey> {
  const { publicKey, privateKey } = await generateKeyPair(algorithm)
  const kid = `${TEST_KEY_NAME}${serial}`
  const publicJwk = { ...(await exportJWK(publicKey)), kid, alg: algorithm, use: 'sig' }
  return { kid, privateKey, publicJwk: Object.freeze(publicJwk) }
}
