import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto'
import { algorithmsOf, isOversized } from '../keys/algorithms.ts'
import { isWeakKey } from '../keys/weak-key.ts'
import { isObject } from '../outside/is-object.ts'
import { ownProperty } from '../outside/own-property.ts'

/** A key that a client proves itself with (RFC 7523 §2.2). */
export interface ClientKey {
  readonly key: KeyObject
  /** The JWS algorithm: what the JWK says, otherwise the first that fits its type. */
  readonly alg: string
  readonly kid: string | undefined
}

/** The key of a private JWK (RFC 7517). Null where it is none, or one that is too weak. */
export function readClientKey(jwk: unknown): ClientKey | null {
  if (!isObject(jwk)) return null
  const [kty, crv, alg, kid] = ['kty', 'crv', 'alg', 'kid'].map((name) => textIn(jwk, name))
  const [fitting] = algorithmsOf({
    ...(kty !== undefined && { kty }),
    ...(crv !== undefined && { crv }),
    ...(alg !== undefined && { alg }),
  })
  const key = importPrivateKey(jwk)
  if (fitting === undefined || key === null || isWeakKey(createPublicKey(key))) {
    return null
  }
  return { key, alg: fitting, kid }
}

function textIn(jwk: object, name: string): string | undefined {
  const value = ownProperty(jwk, name)
  return value === undefined ? undefined : String(value)
}

function importPrivateKey(jwk: JsonWebKey): KeyObject | null {
  if (isOversized(jwk)) return null
  try {
    return createPrivateKey({ key: jwk, format: 'jwk' })
  } catch {
    return null
  }
}
