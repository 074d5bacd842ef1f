import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto'

/**
 * The public key of a JWK, or null where it is none. Node checks what it imports: lengths, and that
 * a point is on its curve.
 */
export function importKey(jwk: JsonWebKey): KeyObject | null {
  try {
    return createPublicKey({ key: jwk, format: 'jwk' })
  } catch {
    return null
  }
}
