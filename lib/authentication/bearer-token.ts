import type { FastifyRequest } from 'fastify'
import { AuthError, ERR_AUTH_TOKEN_INVALID } from '../errors.ts'
import { after, attempt, type NowOrLater } from '../outside/now-or-later.ts'
import type { Waits } from '../outside/waits.ts'
import { withoutStack } from '../outside/without-stack.ts'
import type { Principal } from '../rights/principal.ts'
import { TokenRefused } from '../tokens/token-refused.ts'
import type { Authenticator } from './authenticator.ts'
import type { Issuer } from './issuer.ts'
import { type TokenFrom, tokenOfRequest } from './token-of-request.ts'
import { type RevocationRules, unlessRevoked } from './unless-revoked.ts'
import type { Verified } from './verified-tokens.ts'

export interface BearerTokenRules extends RevocationRules {
  readonly tokenFrom?: TokenFrom | undefined
}

/** Production: a bearer token (RFC 6750), verified with the keys of its issuer. */
export class BearerToken implements Authenticator {
  readonly #issuer: Issuer
  readonly #rules: BearerTokenRules

  constructor(issuer: Issuer, rules: BearerTokenRules) {
    this.#issuer = issuer
    this.#rules = rules
  }

  open(): void {
    this.#issuer.open()
  }

  close(): void {
    this.#issuer.close()
  }

  get isReady(): boolean {
    return this.#issuer.isReady
  }

  refreshKeys(): Promise<void> {
    return this.#issuer.refreshKeys()
  }

  authenticate(request: FastifyRequest, waits: Waits): NowOrLater<Principal> {
    return attempt(() => this.#verified(request, waits), principalOf, refuse)
  }

  /**
   * Step by step; each refuses by throwing. A promise only where a step has to wait for somebody.
   */
  #verified(request: FastifyRequest, waits: Waits): NowOrLater<Verified> {
    const token = tokenOfRequest(request, this.#rules.tokenFrom) //                401
    const verified = this.#issuer.verify(token, waits) //                          401, 503
    return after(verified, (known) => unlessRevoked(known, this.#rules, waits)) // 401, 503
  }
}

function principalOf({ principal }: Verified): Principal {
  return principal
}

const UNREADABLE = { reason: 'the token cannot be read', mismatch: undefined }

/** A caller is told no more than that the token is not valid. */
function refuse(error: unknown): never {
  if (error instanceof AuthError) throw error
  const { reason, mismatch } = error instanceof TokenRefused ? error : UNREADABLE
  throw withoutStack(() => new ERR_AUTH_TOKEN_INVALID(reason, mismatch))
}
