import type { AuthError } from '../../errors.ts'
import { Principal } from '../authorization/principal.ts'
import type { RightsRules } from '../authorization/rights.ts'
import { DEV_LOGIN } from '../authorization/step-up.ts'
import { NO_ACTORS } from '../jwt/registered-claims.ts'
import { tokenRefusal } from '../jwt/token-refusal.ts'
import type { UserInfo } from '../jwt/user-info.ts'
import type { Authenticator } from './authenticator.ts'

/**
 * Dev mode: every request acts as one user. Nothing of the request is read. There is no network.
 */
export class DevAuthenticator implements Authenticator {
  readonly isReady = true
  readonly tokenCache = { size: 0, hits: 0, misses: 0, evictions: 0 }
  readonly keyStats = { unknownKid: 0 }
  readonly proofs = { size: 0, replayed: 0 }
  readonly #principal: Principal

  constructor(userInfo: UserInfo, rules: RightsRules) {
    const subject = {
      exp: Number.POSITIVE_INFINITY,
      issuer: null,
      actors: NO_ACTORS,
      login: DEV_LOGIN,
    } as const
    this.#principal = Principal.of(userInfo, subject, rules)
  }

  open(): void {}

  close(): void {}

  async refreshKeys(): Promise<void> {}

  forget(): void {}

  issuers(): readonly [] {
    return []
  }

  authenticate(): Principal {
    return this.#principal
  }

  authenticateToken(): Principal {
    return this.#principal
  }

  verifyLogout(): AuthError {
    return tokenRefusal('dev mode')
  }
}
