import { type ReportFailure, thrown, unusable } from '../outside/ask-application.ts'
import { ignoreRejection } from '../outside/thenable.ts'
import { type Actor, readActor } from './actor.ts'
import {
  type ClaimRules,
  type Lifetime,
  readLifetime,
  refusedClaims,
  refusedLifetime,
} from './registered-claims.ts'
import { readTokenNames, type TokenNames } from './token-info.ts'
import { TokenRefused } from './token-refused.ts'
import { problemOf, readUserInfo, type UserInfo } from './user-info.ts'

export interface AcceptRules extends ClaimRules {
  /** Seconds. */
  readonly clockTolerance: number
  /** Turns another server's claims into user info. */
  readonly mapClaims?: ((claims: Record<string, unknown>) => UserInfo) | undefined
  /** Is told why `mapClaims` gave no user info. */
  readonly reportMapClaims?: ReportFailure | undefined
}

export interface AcceptedClaims {
  readonly userInfo: UserInfo
  readonly names: TokenNames
  readonly lifetime: Lifetime
  readonly actor: Actor | null
}

/**
 * What proven claims stand for. They become the user info, or the argument of `mapClaims`, and are
 * frozen.
 *
 * @throws TokenRefused
 */
export function acceptClaims(claims: Record<string, unknown>, rules: AcceptRules): AcceptedClaims {
  const lifetime = readLifetime(claims)
  const refused = refusedClaims(claims, rules) ?? refusedLifetime(lifetime, rules.clockTolerance)
  if (refused !== undefined) throw refused
  // Before the application's function, which may change the claims.
  const names = readTokenNames(claims)
  const actor = readActor(claims)
  const { mapClaims, reportMapClaims } = rules
  const userInfo = mapClaims ? mapped(claims, mapClaims, reportMapClaims) : readUserInfo(claims)
  return { userInfo, names, lifetime, actor }
}

/**
 * The application's function may return what it shares with others, so a copy of it is frozen and
 * kept.
 */
function mapped(
  claims: Record<string, unknown>,
  mapClaims: (claims: Record<string, unknown>) => UserInfo,
  report?: ReportFailure,
): UserInfo {
  let copy: unknown
  try {
    const userInfo: unknown = mapClaims(claims)
    ignoreRejection(userInfo)
    // Of nothing, and of a function, there is no text.
    const text: string | undefined = JSON.stringify(userInfo)
    copy = text === undefined ? userInfo : JSON.parse(text)
  } catch (error) {
    report?.(thrown(error))
    throw new TokenRefused('mapClaims failed')
  }
  const problem = problemOf(copy)
  if (problem !== undefined) report?.(unusable(problem))
  return readUserInfo(copy)
}
