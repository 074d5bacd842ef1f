import { createPublicKey, createSecretKey, type KeyObject } from 'node:crypto'
import { types } from 'node:util'
import * as Type from '@sinclair/typebox'
import { compactVerify, errors } from 'jose'
import { entryPointOptions } from '../../config/option-reader.ts'
import { Custom, ListOf, Text } from '../../config/option-types.ts'
import { AuthError } from '../../errors.ts'
import type { OpaqueAnswer } from '../../identity/authentication/opaque-answer.ts'
import { type CompactJws, JoseHeaders, parseCompactJws } from '../../identity/jwt/compact-jws.ts'
import { partiesRefusal, registeredClaims } from '../../identity/jwt/registered-claims.ts'
import { acceptedTypes, checkHeader, type HeaderRules } from '../../identity/jwt/verify.ts'
import { isThrown } from '../../platform/runtime/error.ts'
import { isObject } from '../../platform/runtime/own-property.ts'

type Secret = string | Uint8Array

export interface SharedSecretOptions {
  /**
   * The secret, or several while one takes the place of another: strings, which count as UTF-8, or
   * Buffers. Each has at least 32 bytes (RFC 7518 §3.2), and is no text of a key.
   */
  readonly secrets: Secret | readonly Secret[]
  /** The `iss` of its tokens, which those without one get; no white space. */
  readonly issuer: string
  /** The `aud` that a token names; those without one get it. Not given: `aud` stays as it is. */
  readonly audience?: string
  /** Accepted `alg` headers, of HS256, HS384 and HS512. @default ['HS256'] */
  readonly algorithms?: readonly SymmetricAlgorithm[]
}

const ALGORITHMS = ['HS256', 'HS384', 'HS512'] as const

export type SymmetricAlgorithm = (typeof ALGORITHMS)[number]

const LEAST_BYTES = 32

const MEMBERS = {
  secrets: Custom(
    'one or several strings or Buffers of at least 32 bytes each, and no text of a key',
    areSecrets,
    { isSecret: true },
  ),
  issuer: Text('a string without white space', { pattern: '^\\S+$' }),
  audience: Type.Optional(Text('a non-empty string')),
  algorithms: ListOf(ALGORITHMS, { default: ['HS256'] }),
}

/**
 * For the option `opaqueToken`: verifies tokens that are signed with a secret (RFC 7518 §3.2), as
 * those of a login of one's own, for as long as it takes to move to keys. Whoever has the secret
 * can sign as any user of any tenant.
 *
 * - `exp` is required. `iss` and `aud` may be absent, but no other ones. Times are checked as ever.
 * - `typ` is `JWT`, `at+jwt`, or absent.
 * - What is no such token is null, so that `(await own(token)) ?? apiKey(token)` composes.
 *
 * @throws ERR_AUTH_CONFIG_INVALID which names all problems of the options, and no secret
 */
export function sharedSecret(
  options: SharedSecretOptions,
): (token: string) => Promise<OpaqueAnswer> {
  const rules = entryPointOptions('sharedSecret', options, MEMBERS).finish()
  const { issuer, audience } = rules
  // Copies, since the application may overwrite its Buffers.
  const keys = [rules.secrets].flat().map((secret) => createSecretKey(bytesOf(secret)))
  const filled = { iss: issuer, ...(audience !== undefined && { aud: audience }) }
  const headerRules: HeaderRules = {
    algorithms: new Set(rules.algorithms),
    tokenTypes: new Set(acceptedTypes(undefined)),
  }
  const parties = { issuer: [issuer], audience: audience === undefined ? undefined : [audience] }
  const headers = new JoseHeaders()
  return async (token) => {
    // The rules for all JWTs: one spelling, no extensions.
    const jws = orNull(() => {
      const parsed = parseCompactJws(token, Number.POSITIVE_INFINITY, headers)
      checkHeader(parsed.header, headerRules)
      return parsed
    })
    if (jws === null || !(await isSignedByAny(token, jws, keys))) return null
    const claims = { ...filled, ...orNull(() => jws.payload.read()) }
    if (!Object.hasOwn(claims, 'exp')) return null
    return partiesRefusal(registeredClaims(claims), parties) === undefined ? claims : null
  }
}

function orNull<T>(run: () => T): T | null {
  try {
    return run()
  } catch (error) {
    if (isThrown(error, AuthError)) return null
    throw error
  }
}

async function isSignedByAny(
  token: string,
  { header }: CompactJws,
  keys: readonly KeyObject[],
): Promise<boolean> {
  for (const key of keys) {
    try {
      await compactVerify(token, key, { algorithms: [header.alg] })
      return true
    } catch (error) {
      if (!isThrown(error, errors.JWSSignatureVerificationFailed)) throw error
    }
  }
  return false
}

function bytesOf(secret: Secret): Buffer {
  // Each is an overload of its own.
  return typeof secret === 'string' ? Buffer.from(secret) : Buffer.from(secret)
}

function areSecrets(value: unknown): value is Secret | readonly Secret[] {
  const list: readonly unknown[] = Array.isArray(value) ? [...value] : [value]
  return list.length > 0 && list.every(isGoodSecret)
}

function isGoodSecret(value: unknown): value is Secret {
  // Under Jest, a Buffer of Node is no instance of the application's Uint8Array.
  if (typeof value !== 'string' && !types.isUint8Array(value)) return false
  const bytes = bytesOf(value)
  return bytes.length >= LEAST_BYTES && !isKeyText(bytes)
}

/** PEM, SSH keys, and the beginning of a JWK or of a set. */
const KEY_TEXT =
  /-----BEGIN |^(?:\xef\xbb\xbf)?\s*(?:ssh-|ecdsa-|\{\s*"(?:keys"\s*:\s*\[|[^{}]*"kty"\s*:|kty"\s*:))/

/** A public key is no secret: whoever knows it could sign. */
function isKeyText(bytes: Buffer): boolean {
  const text = bytes.toString('latin1')
  // Some servers publish their keys as base64 of the bytes, without the lines around it.
  const decoded = Buffer.from(text, 'base64')
  return (
    KEY_TEXT.test(text) || [bytes, decoded].some((each) => isPublicKey(each) || isJwkText(each))
  )
}

/** The text of a JWK, of a set, or of a list of them. */
function isJwkText(bytes: Buffer): boolean {
  try {
    const parsed: unknown = JSON.parse(new TextDecoder().decode(bytes))
    return [parsed]
      .flat()
      .some((each) => isObject(each) && (Object.hasOwn(each, 'kty') || Object.hasOwn(each, 'keys')))
  } catch {
    return false
  }
}

function isPublicKey(key: Buffer): boolean {
  return (['spki', 'pkcs1'] as const).some((type) => {
    try {
      createPublicKey({ key, format: 'der', type })
      return true
    } catch {
      return false
    }
  })
}
