import type { TokenInfo } from '../tokens/token-info.ts'
import type { UserInfo } from '../tokens/user-info.ts'

/** Under this key a function that is given as `isRevoked` carries its watch. */
export const WATCH: unique symbol = Symbol('fastify-tenant-auth.watch')

/**
 * Calls a function once as soon as a token is revoked, at once where it is. Returns what ends the
 * wait.
 */
export type WatchRevocation = (token: TokenInfo, onRevoked: () => void) => () => void

/** The watch of an option's value; undefined where it can only be asked. */
export function watchOf(value: unknown): WatchRevocation | undefined {
  return typeof value === 'function' && isWatched(value) ? value[WATCH] : undefined
}

/** A watched function, whose answer is there at once. Undefined where it can only be asked. */
export function denialsOf(
  value: ((userInfo: UserInfo, token: TokenInfo) => unknown) | undefined,
): ((userInfo: UserInfo, token: TokenInfo) => boolean) | undefined {
  if (value === undefined || !isWatched(value)) return undefined
  return (userInfo, token) => value(userInfo, token) !== false
}

/** Whether it looks at the token alone, and tells at once. */
export function isDenyList(value: unknown): boolean {
  return watchOf(value) !== undefined
}

function isWatched(value: object): value is { readonly [WATCH]: WatchRevocation } {
  return Object.hasOwn(value, WATCH)
}
