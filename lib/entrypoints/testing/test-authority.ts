import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { entryPointOptions } from '../../config/option-reader.ts'
import { isText, isWordOf, Maybe } from '../../config/option-types.ts'
import { supportedAlgorithms } from '../../identity/jwks/algorithms.ts'
import { TEST_KEY_NAME } from '../../identity/jwks/jwk-set.ts'
import { ownCopy, ownProperty } from '../../platform/runtime/own-property.ts'
import { serveAuthority } from './authority-server.ts'
import { createProofKey, type ProvedHeaders } from './proof-key.ts'

export interface TestAuthorityOptions {
  /** The `iss` claim of the tokens. @default 'https://authority.test' */
  readonly issuer?: string | undefined
  /** The `aud` claim of the tokens. @default 'api' */
  readonly audience?: string | undefined
  /** The JWS algorithm of the keys and tokens; asymmetric. @default 'ES256' */
  readonly algorithm?: string | undefined
}

/** The claims of a test user; any further ones too. */
export interface TestUserInfo {
  readonly sub?: string
  readonly preferred_username?: string
  readonly resources?: Readonly<Record<string, readonly string[]>>
  readonly [claim: string]: unknown
}

/** The same of an application's own type, which need not have an index signature. */
type TestUser = TestUserInfo | Pick<TestUserInfo, 'sub' | 'preferred_username' | 'resources'>

/** A public key as a JWK (RFC 7517 §4). As an alias it fits the `JsonWebKey` of `node:crypto`. */
export type TestPublicKey = {
  readonly kid: string
  readonly alg: string
  readonly use: string
  readonly kty?: string
  readonly crv?: string
  readonly x?: string
  readonly y?: string
  readonly n?: string
  readonly e?: string
  readonly pub?: string
}

/**
 * The claims and headers of a test token, apart from its user's. One given as `undefined` is left
 * out.
 */
export interface TestTokenOptions {
  /** Seconds from now until `exp`; negative: expired. @default 300 */
  readonly expiresIn?: number | undefined
  /** Seconds from now until `nbf`. Not given: no `nbf`. */
  readonly notBefore?: number | undefined
  /** Seconds from now of `iat`. @default 0 */
  readonly issuedAt?: number | undefined
  /** @default the authority's */
  readonly issuer?: string | undefined
  /** @default the authority's */
  readonly audience?: string | readonly string[] | undefined
  /** Protected header parameters, over `alg`, `kid` and `typ: at+jwt`. */
  readonly header?: Readonly<Record<string, unknown>> | undefined
}

/** A user of a token that is bound to a key. */
export interface BoundUser {
  readonly token: string
  /**
   * The headers of one request, with a proof that counts once.
   *
   * @param url the address of the request, as clients know it: the option `publicUrl`, or the
   * origin of `resource`, and then its path
   * @throws TypeError if it is no whole URL
   */
  headers(method: string, url: string): ProvedHeaders
}

/** An entry of the option `issuers`. */
export interface TestIssuerRules extends Pick<TestAuthority, 'publicKeys' | 'issuer' | 'audience'> {
  readonly tenants: '*' | readonly string[]
}

/**
 * An authorization server for an application's own tests. It has real keys and real tokens, and
 * after `listen()` a real JWKS endpoint. Its tokens go through the real verifier; nothing is
 * stubbed.
 */
export interface TestAuthority {
  /** The current JWK set, for the option of this name. */
  readonly publicKeys: { readonly keys: readonly TestPublicKey[] }
  readonly issuer: string
  readonly audience: string
  /** `publicKeys`, `issuer` and `audience`, to spread over an application's own options. */
  readonly options: Pick<TestAuthority, 'publicKeys' | 'issuer' | 'audience'>
  /**
   * An entry of the option `issuers`, so that an application trusts this authority among others.
   *
   * @param pin the tenants that it may speak for; `*`: every one
   */
  issuerRules(pin: { readonly tenants: '*' | readonly string[] }): TestIssuerRules
  /** A signed token for a user; without `sub` it is for `test-user`. */
  token(userInfo?: TestUser, options?: TestTokenOptions): Promise<string>
  /** The headers of a request of that user, to hand to `app.inject`. */
  headers(userInfo?: TestUser, options?: TestTokenOptions): Promise<{ authorization: string }>
  /**
   * A user whose token is bound to a key of its own (RFC 9449), for an application with
   * `confirmation: 'check'` or `'require'`.
   *
   * @example
   * const alice = await authority.bound({ sub: 'alice' })
   * const headers = alice.headers('GET', 'https://api.example.com/orders')
   * await app.inject({ url: '/orders', headers })
   */
  bound(userInfo?: TestUser, options?: TestTokenOptions): Promise<BoundUser>
  /** Replaces the key. `publicKeys` and the endpoint no longer hold the old one. */
  rotate(): Promise<void>
  /**
   * Serves the JWK set on loopback, and at `/.well-known/openid-configuration` the metadata of the
   * issuer (OpenID Connect Discovery 1.0 §3). An application can discover it if the option `issuer`
   * is the server's own address, such as `http://127.0.0.1:8081`. It keeps no process alive: a test
   * that fails before its `close()` still ends.
   *
   * @param port TCP port; 0: any free one
   * @returns its address, for `publicKeysUrl`
   * @throws Error if it listens already, or is about to
   */
  listen(port?: number): Promise<string>
  /**
   * Ends the endpoint and its open connections. If it does not listen yet, it ends as soon as it
   * does.
   */
  close(): Promise<void>
  /**
   * The same as `close()`, at the end of the block.
   *
   * @example await using authority = await createTestAuthority()
   */
  [Symbol.asyncDispose](): Promise<void>
}

const MEMBERS = {
  issuer: Maybe('a non-empty string', isText),
  audience: Maybe('a non-empty string', isText),
  algorithm: Maybe(`one of ${supportedAlgorithms.join(', ')}`, isWordOf(supportedAlgorithms)),
}

/**
 * @throws ERR_AUTH_CONFIG_INVALID which names all problems of the options
 * @example
 * const authority = await createTestAuthority()
 * await app.register(tenantAuth, authority.options)
 */
export async function createTestAuthority(
  options: TestAuthorityOptions = {},
): Promise<TestAuthority> {
  const {
    issuer = 'https://authority.test',
    audience = 'api',
    algorithm = 'ES256',
  } = entryPointOptions('createTestAuthority', options, MEMBERS).finish()
  let serial = 1
  let signing = await createSigningKey(algorithm, serial)
  let endpoint: ReturnType<typeof serveAuthority> | undefined

  const publicKeys = () => ({ keys: [signing.publicJwk] })
  const trusted = () => ({ publicKeys: publicKeys(), issuer, audience })
  const token: TestAuthority['token'] = (userInfo = {}, given = {}) => {
    const defaults = { issuer, audience, expiresIn: 300, issuedAt: 0 }
    const tokenOptions: TestTokenOptions = ownCopy({ ...defaults, ...given })
    const now = Math.floor(Date.now() / 1000)
    const at = (seconds: number | undefined) => (seconds === undefined ? undefined : now + seconds)
    const claims = {
      exp: at(tokenOptions.expiresIn),
      nbf: at(tokenOptions.notBefore),
      iat: at(tokenOptions.issuedAt),
      iss: tokenOptions.issuer,
      aud: tokenOptions.audience,
      sub: 'test-user',
      ...userInfo,
    }
    const header = { alg: algorithm, kid: signing.kid, typ: 'at+jwt', ...tokenOptions.header }
    return new SignJWT(Object(claims)).setProtectedHeader(header).sign(signing.privateKey)
  }

  const close = async (): Promise<void> => {
    const ending = endpoint
    endpoint = undefined
    // A server that does not listen yet cannot be closed. A server that never listens needs no end.
    const served = await ending?.catch(() => undefined)
    await served?.close()
  }

  return {
    get publicKeys() {
      return publicKeys()
    },
    issuer,
    audience,
    get options() {
      return trusted()
    },
    issuerRules({ tenants }) {
      return { ...trusted(), tenants }
    },
    token,
    async headers(userInfo, tokenOptions) {
      return { authorization: `Bearer ${await token(userInfo, tokenOptions)}` }
    },
    async bound(userInfo = {}, tokenOptions = {}) {
      const key = await createProofKey()
      const cnf = { ...Object(ownProperty(userInfo, 'cnf')), jkt: key.jkt }
      const bound = await token({ ...userInfo, cnf }, tokenOptions)
      return { token: bound, headers: (method, url) => key.headers(bound, method, url) }
    },
    async rotate() {
      serial += 1
      signing = await createSigningKey(algorithm, serial)
    },
    async listen(port = 0) {
      if (endpoint !== undefined) throw new Error('the test authority listens already')
      const starting = serveAuthority(port, () => {
        return { issuer, algorithm, publicKeys: publicKeys() }
      })
      endpoint = starting
      try {
        return (await starting).keysUrl
      } catch (error) {
        if (endpoint === starting) endpoint = undefined
        throw error
      }
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

async function createSigningKey(algorithm: string, serial: number) {
  const { publicKey, privateKey } = await generateKeyPair(algorithm)
  const kid = `${TEST_KEY_NAME}${serial}`
  const publicJwk = { ...(await exportJWK(publicKey)), kid, alg: algorithm, use: 'sig' }
  return { kid, privateKey, publicJwk: Object.freeze(publicJwk) }
}

/**
 * Starts an authority on loopback whose issuer is its own address, so that it can be discovered. It
 * keeps the process alive until its `close()`.
 *
 * @param port TCP port; 0: any free one
 * @param audience the `aud` claim of its tokens
 */
export async function startAuthority(port: number, audience: string) {
  const algorithm = 'ES256'
  const { publicKeys, token } = await createTestAuthority({ audience, algorithm })
  // The host is that of the default `publicKeysUrl`.
  const issuerAt = (actual: number) => `http://localhost:${actual}`
  const { server, close, keysUrl, ...served } = await serveAuthority(port, (actual) => {
    return { issuer: issuerAt(actual), algorithm, publicKeys }
  })
  server.ref()
  const issuer = issuerAt(served.port)
  const ownToken: typeof token = (user, options) => token(user, { issuer, ...options })
  return { issuer, audience, keysUrl, token: ownToken, close }
}
