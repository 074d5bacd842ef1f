import { type AuthError, ERR_AUTH_REVOCATION_UNAVAILABLE } from '../../errors.ts'
import {
  callWithTimeout,
  type ReportFailure,
  thrown,
} from '../../platform/callbacks/call-with-timeout.ts'
import type { PendingRequests } from '../../platform/callbacks/pending-requests.ts'
import { readBoolean } from '../../platform/http/failure.ts'
import { withoutStack } from '../../platform/runtime/error.ts'
import { after, type MaybePromise } from '../../platform/runtime/maybe-promise.ts'
import type { Principal } from '../authorization/principal.ts'
import { outlivesDenyList, type TokenInfo, tokenInfo } from '../jwt/token-info.ts'
import { tokenRefusal } from '../jwt/token-refusal.ts'
import type { UserInfo } from '../jwt/user-info.ts'
import type { Verified } from './verified-tokens.ts'

/** No entry lasts as long as the token, or the token has no age. */
const OUTLIVES = 'outlives the deny list'

export interface RevocationRules {
  readonly isRevoked?:
    | ((userInfo: UserInfo, token: TokenInfo) => boolean | Promise<boolean>)
    | undefined
  /** Seconds. */
  readonly timeout: number
  readonly reportIsRevoked?: ReportFailure | undefined
}

/**
 * The user of a token, unless it is revoked. Asked on every request anew, because a token that was
 * verified before may be revoked since.
 *
 * @param principal with all that is known of the user, so that the function sees no rights of a
 * token that do not count
 * @throws ERR_AUTH_TOKEN_INVALID
 * @throws ERR_AUTH_REVOCATION_UNAVAILABLE
 */
export function checkRevocation(
  principal: Principal,
  { names, lifetime, isOpaque }: Verified,
  { isRevoked, timeout, reportIsRevoked: report }: RevocationRules,
  waits: PendingRequests,
): MaybePromise<Principal> {
  if (isRevoked === undefined) return principal
  const token = tokenInfo(names, lifetime, isOpaque)
  const revoked = callWithTimeout({
    // User info is not made for a deny list, which looks at the token alone.
    ask: () =>
      isRevoked(isDenyList(isRevoked) ? { sub: principal.sub } : principal.userInfo, token),
    timeout,
    waits,
    report,
    read: readBoolean,
    refuse: unavailable,
  })
  return after(revoked, (isSo) => {
    if (isSo) throw revokedRefusal(token)
    return principal
  })
}

/** The refusal of a token by a function that answers at once; undefined: it has none. */
export function denialRefusal(
  denies: Denies,
  sub: string,
  token: TokenInfo,
): AuthError | undefined {
  try {
    return denies({ sub }, token) ? revokedRefusal(token) : undefined
  } catch (error) {
    return unavailable(thrown(error).reason)
  }
}

function revokedRefusal(token: TokenInfo): AuthError {
  return tokenRefusal(outlivesDenyList(token) ? OUTLIVES : 'revoked')
}

function unavailable(reason: string): AuthError {
  return withoutStack(() => new ERR_AUTH_REVOCATION_UNAVAILABLE(1, `isRevoked ${reason}`))
}

/** Under this key a function that is given as `isRevoked` carries its watch. */
export const WATCH: unique symbol = Symbol('fastify-tenant-auth.watch')

/**
 * Calls a function once as soon as a token is revoked; at once if it is. Returns what ends the
 * wait.
 */
export type WatchRevocation = (token: TokenInfo, onRevoked: () => void) => () => void

/** A deny list that is `isRevoked`. It answers at once, and throws if it does not know. */
export type Denies = (userInfo: UserInfo, token: TokenInfo) => boolean

/** The deny list that is an option's value; without members: it is another function, or none. */
export function denyListOf(
  value: ((userInfo: UserInfo, token: TokenInfo) => unknown) | undefined,
): { readonly denies: Denies | undefined; readonly watchRevocation: WatchRevocation | undefined } {
  if (!isDenyList(value)) return { denies: undefined, watchRevocation: undefined }
  const denies: Denies = (userInfo, token) => value(userInfo, token) !== false
  return { denies, watchRevocation: value[WATCH] }
}

/** True: a watched function. It looks at the token alone, and answers at once. */
export function isDenyList(value: unknown): value is { readonly [WATCH]: WatchRevocation } {
  return typeof value === 'function' && Object.hasOwn(value, WATCH)
}
