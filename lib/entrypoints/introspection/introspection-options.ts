import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import * as Type from '@sinclair/typebox'
import { entryPointOptions } from '../../config/option-reader.ts'
import { CodeSwitch, NO_LINE_BREAK, Text, TextThat } from '../../config/option-types.ts'
import { algorithmsOf, importKey } from '../../identity/jwks/algorithms.ts'
import { isWeakKey } from '../../identity/jwks/jwk.ts'
import { isSecureUrl } from '../../platform/http/urls.ts'
import { isObject, ownProperty } from '../../platform/runtime/own-property.ts'

/** The addresses that `isServerAddress` accepts, in boot errors. */
const SERVER_ADDRESS = 'an https URL (http on loopback only) without credentials'

/** The address of a server, as a member of options. */
export const ADDRESS = TextThat(SERVER_ADDRESS, isServerAddress)

/**
 * Tokens and secrets may be sent to https, or http on loopback. Logs show addresses, so that
 * credentials must not stand in them. A fragment is never sent.
 */
export function isServerAddress(address: unknown): address is string {
  return typeof address === 'string' && isSecureUrl(address) && !address.includes('#')
}

export type IntrospectionOptions = {
  /**
   * The authorization server's issuer identifier (RFC 8414 §2): an https URL without query and
   * fragment; http on loopback only. Answers without `iss` count as its answers; answers with
   * another one are refused.
   */
  readonly issuer: string
  /**
   * Address of the introspection endpoint; https, or http on loopback. Not given: it is discovered
   * from the issuer (OpenID Connect Discovery §4, RFC 8414 §3).
   */
  readonly url?: string
  /** The identifier of this API at the authorization server. */
  readonly clientId: string
  /** Answers must be signed by the issuer (RFC 9701), and others are refused. @default false */
  readonly signed?: boolean
} & (SecretOfClient | KeyOfClient)

type SecretOfClient = {
  /**
   * Sent in the Authorization header, or in the body if the server takes it there only
   * (`client_secret_basic`, `client_secret_post`; RFC 6749 §2.3.1).
   */
  readonly clientSecret: string
  readonly privateKey?: never
}

type KeyOfClient = {
  /**
   * A private JWK (RFC 7517), which signs `private_key_jwt` (RFC 7523 §2.2); its `alg` and `kid`
   * are used if it has them.
   */
  readonly privateKey: object
  readonly clientSecret?: never
}

const MEMBERS = {
  issuer: TextThat(`${SERVER_ADDRESS} and without query`, isIssuer),
  url: Type.Optional(ADDRESS),
  clientId: Text('a non-empty string', NO_LINE_BREAK),
  clientSecret: Type.Optional(Text('a non-empty string', { isSecret: true, ...NO_LINE_BREAK })),
  privateKey: Type.Optional(Type.Unknown()),
  signed: CodeSwitch(false),
}

export type IntrospectionRules = ReturnType<typeof readIntrospectionOptions>

export function readIntrospectionOptions(given: unknown) {
  const options = entryPointOptions('introspection', given, MEMBERS)
  const { privateKey } = options.right
  const key = readClientKey(privateKey)
  if (options.has('clientSecret') === options.has('privateKey')) {
    const found = options.has('clientSecret') ? 'both' : 'neither'
    options.refuse('clientSecret', 'either clientSecret or privateKey', found)
  } else if (options.has('privateKey') && key === null) {
    const expected = 'a private JWK for an asymmetric algorithm'
    options.refuse('privateKey', expected, `a value of type ${typeof privateKey}`)
  }
  const { issuer, url, clientId, clientSecret = '', signed } = options.finish()
  return { issuer, url, clientId, signed, credentials: key ?? clientSecret }
}

function isIssuer(text: string): boolean {
  return isServerAddress(text) && !text.includes('?')
}

/** A key that a client proves itself with (RFC 7523 §2.2). */
export interface ClientKey {
  readonly key: KeyObject
  /** The JWS algorithm: that of the JWK, otherwise the first that fits its type. */
  readonly alg: string
  readonly kid: string | undefined
}

/** The key of a private JWK (RFC 7517). Null if it is none, or one that is too weak. */
function readClientKey(jwk: unknown): ClientKey | null {
  if (!isObject(jwk)) return null
  const names = ['kty', 'crv', 'alg', 'kid'].filter((name) => ownProperty(jwk, name) !== undefined)
  const { kid, ...kind }: Record<string, string> = Object.fromEntries(
    names.map((name) => [name, String(ownProperty(jwk, name))]),
  )
  const [fitting] = algorithmsOf(kind)
  const key = importKey(jwk, createPrivateKey)
  if (fitting === undefined || key === null || isWeakKey(createPublicKey(key))) return null
  return { key, alg: fitting, kid }
}
