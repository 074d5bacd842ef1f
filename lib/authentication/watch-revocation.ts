import type { TokenInfo } from '../tokens/token-info.ts'

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

function isWatched(value: object): value is { readonly [WATCH]: WatchRevocation } {
  return Object.hasOwn(value, WATCH)
}
