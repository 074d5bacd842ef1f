import { DoorOptions, type Kind } from '../settings/door-options.ts'
import { type ClientKey, readClientKey } from './client-key.ts'
import { ADDRESS, isServerAddress, SERVER_ADDRESS } from './server-address.ts'

/** How `introspection` asks, and whom. */
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
  /**
   * Whether answers must be signed by the issuer (RFC 9701). An answer that is not signed is
   * refused then. @default false
   */
  readonly signed?: boolean
} & (SecretOfClient | KeyOfClient)

type SecretOfClient = {
  /**
   * Sent in the Authorization header, or in the body where the server takes it there only
   * (`client_secret_basic`, `client_secret_post`; RFC 6749 §2.3.1).
   */
  readonly clientSecret: string
  readonly privateKey?: never
}

type KeyOfClient = {
  /**
   * A private JWK (RFC 7517), which signs `private_key_jwt` (RFC 7523 §2.2); its `alg` and `kid`
   * are used where it has them.
   */
  readonly privateKey: object
  readonly clientSecret?: never
}

/** Options that have been checked. */
export interface IntrospectionRules {
  readonly issuer: string
  readonly url: string | undefined
  readonly clientId: string
  readonly signed: boolean
  /** The secret, or the key. */
  readonly credentials: string | ClientKey
}

const MEMBERS = ['issuer', 'url', 'clientId', 'clientSecret', 'privateKey', 'signed']

const ISSUER: Kind<string> = {
  expected: `${SERVER_ADDRESS} and without query`,
  read: (value) => (isServerAddress(value) && !value.includes('?') ? value : null),
}

const TEXT: Kind<string> = {
  expected: 'a non-empty string',
  read: (value) => (typeof value === 'string' && value !== '' ? value : null),
}

const KEY: Kind<ClientKey> = {
  expected: 'a private JWK for an asymmetric algorithm',
  isSecret: true,
  read: readClientKey,
}

const SWITCH: Kind<boolean> = {
  expected: 'a boolean',
  read: (value) => (typeof value === 'boolean' ? value : null),
}

/** @throws ERR_AUTH_CONFIG_INVALID which tells all problems */
export function readIntrospectionOptions(given: unknown): IntrospectionRules {
  const options = new DoorOptions('introspection', given, MEMBERS)
  // What stands in for a bad value never gets out of here.
  const rules = {
    issuer: options.read('issuer', ISSUER) ?? '',
    url: options.has('url') ? (options.read('url', ADDRESS) ?? '') : undefined,
    clientId: options.read('clientId', TEXT) ?? '',
    credentials: readCredentials(options) ?? '',
    signed: options.has('signed') && options.read('signed', SWITCH) === true,
  }
  options.throwIfAny()
  return rules
}

function readCredentials(options: DoorOptions): string | ClientKey | null {
  const [hasSecret, hasKey] = [options.has('clientSecret'), options.has('privateKey')]
  if (hasSecret === hasKey) {
    const found = hasSecret ? 'both' : 'neither'
    options.refuse('clientSecret', 'either clientSecret or privateKey', found)
    return null
  }
  if (hasKey) return options.read('privateKey', KEY)
  return options.read('clientSecret', { ...TEXT, isSecret: true })
}
