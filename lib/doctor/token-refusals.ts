import { readActor } from '../tokens/actor.ts'
import { checkHeader, type JoseHeader, normalizeTokenType } from '../tokens/jose-header.ts'
import { readLifetime, refusedClaims, refusedLifetime } from '../tokens/registered-claims.ts'
import { TokenRefused } from '../tokens/token-refused.ts'
import { readUserInfo } from '../tokens/user-info.ts'
import { refuseEndless, type VerifyRules } from '../tokens/verify-token.ts'

/**
 * Every reason for which the guard refuses a token that is not about its key. The guard stops at
 * the first; here each check is run by itself.
 */
export function refusalsOf(
  header: JoseHeader,
  claims: Record<string, unknown>,
  rules: VerifyRules,
): TokenRefused[] {
  const { alg, typ } = header
  const { algorithms, tokenTypes, issuer, audience, confirmation, clockTolerance } = rules
  const own = {
    algorithms: new Set([alg]),
    tokenTypes: new Set([typ === undefined ? typ : normalizeTokenType(typ)]),
  }
  const anybody = { confirmation: 'ignore' } as const
  const checks: readonly (() => unknown)[] = [
    () => checkHeader(header, { ...own, algorithms }),
    () => checkHeader(header, { ...own, tokenTypes }),
    () => refusedClaims(claims, { ...anybody, issuer }),
    () => refusedClaims(claims, { ...anybody, audience }),
    () => refusedClaims(claims, { confirmation }),
    () => refusedLifetime(readLifetime(claims), clockTolerance),
    () => refuseEndless(readLifetime(claims)),
    () => readActor(claims),
    // The last: it freezes the claims.
    () => readUserInfo(claims),
  ]
  const refusals = checks.map(orRefusal).filter((result) => result instanceof TokenRefused)
  return [...new Map(refusals.map((refusal) => [refusal.reason, refusal])).values()]
}

/** What a function gives, or its refusal. */
export function orRefusal<T>(make: () => T): T | TokenRefused {
  try {
    return make()
  } catch (error) {
    if (error instanceof TokenRefused) return error
    throw error
  }
}
