import { ERR_AUTH_REVOCATION_UNAVAILABLE } from '../errors.ts'
import { askApplication, type ReportFailure } from '../outside/ask-application.ts'
import { after, type NowOrLater } from '../outside/now-or-later.ts'
import { readBoolean } from '../outside/unusable.ts'
import type { Waits } from '../outside/waits.ts'
import { withoutStack } from '../outside/without-stack.ts'
import type { Principal } from '../rights/principal.ts'
import { outlivesDenyList, type TokenInfo, tokenInfo } from '../tokens/token-info.ts'
import { TokenRefused } from '../tokens/token-refused.ts'
import type { UserInfo } from '../tokens/user-info.ts'
import type { Verified } from './verified-tokens.ts'
import { isDenyList } from './watch-revocation.ts'

/** No entry lasts as long as the token, or it does not tell its age. */
const OUTLIVES = 'outlives the deny list'

export interface RevocationRules {
  readonly isRevoked?:
    | ((userInfo: UserInfo, token: TokenInfo) => boolean | Promise<boolean>)
    | undefined
  /** Seconds for one call of `isRevoked`. */
  readonly timeout: number
  /** Is told why `isRevoked` gave no answer. */
  readonly reportIsRevoked?: ReportFailure | undefined
}

/**
 * The user of a token, unless it is revoked. Asked on every request anew, because a token that was
 * verified before may be revoked since.
 *
 * @param principal with all that is known of the user, so that the function is told no rights of a
 * token that do not count
 * @throws TokenRefused
 * @throws ERR_AUTH_REVOCATION_UNAVAILABLE
 */
export function unlessRevoked(
  principal: Principal,
  { names, lifetime, isOpaque }: Verified,
  { isRevoked, timeout, reportIsRevoked: report }: RevocationRules,
  waits: Waits,
): NowOrLater<Principal> {
  if (isRevoked === undefined) return principal
  const token = tokenInfo(names, lifetime, isOpaque)
  const revoked = askApplication({
    // A deny list looks at the token alone, so that the user info need not be made for it.
    ask: () =>
      isRevoked(isDenyList(isRevoked) ? { sub: principal.sub } : principal.userInfo, token),
    timeout,
    waits,
    report,
    read: readBoolean,
    refuse: (reason) =>
      withoutStack(() => new ERR_AUTH_REVOCATION_UNAVAILABLE(1, `isRevoked ${reason}`)),
  })
  return after(revoked, (isSo) => {
    if (isSo) throw new TokenRefused(outlivesDenyList(token) ? OUTLIVES : 'revoked')
    return principal
  })
}
