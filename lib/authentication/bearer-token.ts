import type { FastifyRequest } from 'fastify'
import {
  AuthError,
  ERR_AUTH_REVOCATION_UNAVAILABLE,
  ERR_AUTH_TOKEN_INVALID,
  ERR_AUTH_TOKEN_MISSING,
} from '../errors.ts'
import type { KeySet } from '../keys/key-set.ts'
import type { KeySource } from '../keys/key-source.ts'
import { askApplication } from '../outside/ask-application.ts'
import { ignoreRejection } from '../outside/thenable.ts'
import type { Waits } from '../outside/waits.ts'
import { withoutStack } from '../outside/without-stack.ts'
import { type AuthorizationRules, Principal } from '../rights/authorization.ts'
import { type CompactJws, parseCompactJws } from '../tokens/compact-jws.ts'
import { type HeaderRules, JoseHeaders } from '../tokens/jose-header.ts'
import { keptSize } from '../tokens/kept-size.ts'
import { checkLifetime, type Lifetime } from '../tokens/registered-claims.ts'
import { SignatureMismatch } from '../tokens/signature-mismatch.ts'
import { type TokenInfo, type TokenNames, tokenInfo } from '../tokens/token-info.ts'
import { TokenRefused } from '../tokens/token-refused.ts'
import type { UserInfo } from '../tokens/user-info.ts'
import { type VerifyRules, verifyToken } from '../tokens/verify-token.ts'
import type { Authenticator } from './authenticator.ts'
import { type FoundKey, findKey, findNewerKey, keysUnavailable } from './find-key.ts'
import { TokenCache } from './token-cache.ts'
import { isRepeated, readBearerToken } from './token-of-request.ts'

export interface BearerTokenRules extends HeaderRules, VerifyRules, AuthorizationRules {
  readonly maxTokenLength: number
  readonly tokenCacheSize: number
  readonly tokenFrom?: ((request: FastifyRequest) => string | null) | undefined
  readonly isRevoked?:
    | ((userInfo: UserInfo, token: TokenInfo) => boolean | Promise<boolean>)
    | undefined
  /** Seconds for one call of `isRevoked`. */
  readonly timeout: number
}

const UNREADABLE = { reason: 'the token cannot be read', mismatch: undefined }

/** What a verified token stands for. */
interface Verified {
  readonly principal: Principal
  readonly lifetime: Lifetime
  /** For `isRevoked`. */
  readonly names: TokenNames
}

/** Production: a JWT in the Authorization header (RFC 6750), verified with the authorization server's keys. */
export class BearerToken implements Authenticator {
  readonly #keys: KeySource
  readonly #rules: BearerTokenRules
  readonly #headers: JoseHeaders
  readonly #cache: TokenCache<Verified>
  /** The key set that everything in the cache was verified with. */
  #cachedWith: KeySet | undefined

  constructor(keys: KeySource, rules: BearerTokenRules) {
    this.#keys = keys
    this.#rules = rules
    this.#headers = new JoseHeaders(rules)
    this.#cache = new TokenCache(rules.tokenCacheSize)
  }

  open(): void {
    this.#keys.open()
  }

  close(): void {
    this.#keys.close()
  }

  get isReady(): boolean {
    return this.#keys.current() !== undefined
  }

  async refreshKeys(): Promise<void> {
    if (!(await this.#keys.reload())) throw keysUnavailable(this.#keys)
  }

  authenticate(request: FastifyRequest, waits: Waits): Principal | Promise<Principal> {
    try {
      const verified = this.#verify(this.#tokenOf(request))
      if (!(verified instanceof Promise)) return this.#unlessRevoked(verified, waits)
      return waits
        .for(verified, () => withoutStack(() => keysUnavailable(this.#keys)))
        .then((late) => this.#unlessRevoked(late, waits))
        .catch((error) => this.#refuse(error))
    } catch (error) {
      return this.#refuse(error)
    }
  }

  #tokenOf(request: FastifyRequest): string {
    const { authorization } = request.headers
    const token =
      authorization === undefined
        ? this.#tokenElsewhere(request)
        : readBearerToken(String(authorization))
    if (isRepeated(request.raw.rawHeaders)) throw new TokenRefused('several Authorization headers')
    if (token === null) throw withoutStack(() => new ERR_AUTH_TOKEN_MISSING('no bearer token'))
    return token
  }

  #tokenElsewhere(request: FastifyRequest): string | null {
    const token: unknown = this.#rules.tokenFrom?.(request)
    if (token === undefined || token === null || token === '') return null
    if (typeof token === 'string') return token
    ignoreRejection(token)
    throw new TokenRefused('tokenFrom gave no string')
  }

  #verify(token: string): Verified | Promise<Verified> {
    const keys = this.#keys.current()
    if (keys !== undefined && keys === this.#cachedWith) {
      const known = this.#cache.get(token)
      if (known) {
        checkLifetime(known.lifetime, this.#rules.clockTolerance)
        return known
      }
    }
    const jws = parseCompactJws(token, this.#rules.maxTokenLength, this.#headers)
    const found = findKey(this.#keys, jws.header)
    return found instanceof Promise
      ? found.then((late) => this.#prove(late, token, jws))
      : this.#prove(found, token, jws)
  }

  /**
   * A server that names no `kid` rotates its keys too, and then only the signature tells that the key is
   * another: as with an unknown `kid`, a newer set is looked for.
   */
  #prove(found: FoundKey, token: string, jws: CompactJws): Verified | Promise<Verified> {
    try {
      return this.#proveWith(found, token, jws)
    } catch (error) {
      if (!(error instanceof SignatureMismatch) || jws.header.kid !== undefined) throw error
      return findNewerKey(this.#keys, jws.header, found.keys).then((newer) => {
        if (newer === undefined) throw error
        return this.#proveWith(newer, token, jws)
      })
    }
  }

  #proveWith({ key, keys }: FoundKey, token: string, jws: CompactJws): Verified {
    const { userInfo, names, lifetime } = verifyToken(jws, key, this.#rules)
    const principal = new Principal(userInfo, lifetime.exp, this.#rules)
    const verified = { principal, lifetime, names }
    this.#remember(keys, token, verified)
    return verified
  }

  #remember(keys: KeySet, token: string, verified: Verified): void {
    if (keys !== this.#cachedWith) {
      this.#cache.clear()
      this.#cachedWith = keys
    }
    const { principal, names } = verified
    this.#cache.set(token, verified, principal.keptSize + keptSize(names))
  }

  /** Asked on every request anew, cached token or not. */
  #unlessRevoked(
    { principal, lifetime, names }: Verified,
    waits: Waits,
  ): Principal | Promise<Principal> {
    const { isRevoked } = this.#rules
    if (isRevoked === undefined) return principal
    const revoked = askApplication({
      ask: () => isRevoked(principal.userInfo, tokenInfo(names, lifetime)),
      timeout: this.#rules.timeout,
      waits,
      isAnswer: (value) => typeof value === 'boolean',
      refuse: (reason) =>
        withoutStack(() => new ERR_AUTH_REVOCATION_UNAVAILABLE(1, `isRevoked ${reason}`)),
    })
    const admit = (isSo: boolean): Principal => {
      if (isSo) throw new TokenRefused('revoked')
      return principal
    }
    return typeof revoked === 'boolean'
      ? admit(revoked)
      : revoked.then(admit).catch((error) => this.#refuse(error))
  }

  /** Whatever goes wrong on the way to a principal, the caller is told no more than that the token is not valid. */
  #refuse(error: unknown): never {
    if (error instanceof AuthError) throw error
    const { reason, mismatch } = error instanceof TokenRefused ? error : UNREADABLE
    throw withoutStack(() => new ERR_AUTH_TOKEN_INVALID(reason, mismatch))
  }
}
