import type { FastifyRequest } from 'fastify'
import type { Actor } from '../tokens/actor.ts'

/**
 * A message of the channel `fastify-tenant-auth:decision`: what was decided of a guarded request,
 * or of work without a request. Immutable, but for the request.
 */
export interface DecisionEvent {
  /** Null: work without a request. */
  readonly request: FastifyRequest | null
  readonly outcome: 'admitted' | 'refused' | 'internal'
  /** Of the error; null: not refused. */
  readonly code: string | null
  readonly statusCode: number | null
  /** Why exactly, in the constant words of the log. */
  readonly reason: string | null
  /** Who has issued the token; null: nobody was authenticated, or the token does not say. */
  readonly issuer: string | null
  /** The user; null: nobody was authenticated. */
  readonly sub: string | null
  /** The user as the token names it, before `mapClaims`; null: it does not. */
  readonly tokenSub: string | null
  /** Who acts for the user; null: the user itself. */
  readonly actor: Actor | null
  /** The valid name that was asked for. The tenant of a refusal need not exist. */
  readonly tenant: string | null
  /** The ids that the route requires. */
  readonly required: readonly string[] | null
  /** Whether the token was known; null: no token counted. */
  readonly cached: boolean | null
}
