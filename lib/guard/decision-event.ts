import type { FastifyRequest } from 'fastify'
import type { AuthError } from '../errors.ts'
import { Channel } from '../outside/channel.ts'
import type { Actor } from '../tokens/actor.ts'
import type { Asked } from './decide.ts'
import { askedTenant } from './refusal.ts'

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
  /** Who acts for the user; null: the user itself. */
  readonly actor: Actor | null
  /** The valid name that was asked for. The tenant of a refusal need not exist. */
  readonly tenant: string | null
  /** The ids that the route requires. */
  readonly required: readonly string[] | null
  /** Whether the token was known; null: no token counted. */
  readonly cached: boolean | null
}

const decisions = new Channel<DecisionEvent>('fastify-tenant-auth:decision')

/** @param error null: the request was admitted */
export function tellDecision(asked: Asked, error: AuthError | null): void {
  if (decisions.hasSubscribers) decisions.publish(eventOf(asked, error))
}

/** Tells of work without a request, which acts as a user in a tenant. */
export function tellInternal({ sub, tenant }: Pick<DecisionEvent, 'sub' | 'tenant'>): void {
  if (!decisions.hasSubscribers) return
  decisions.publish(
    Object.freeze({
      request: null,
      outcome: 'internal',
      code: null,
      statusCode: null,
      reason: null,
      issuer: null,
      sub,
      actor: null,
      tenant,
      required: null,
      cached: null,
    }),
  )
}

function eventOf(asked: Asked, error: AuthError | null): DecisionEvent {
  const { request, policy, principal, cached } = asked
  return Object.freeze({
    request,
    outcome: error === null ? 'admitted' : 'refused',
    code: error?.code ?? null,
    statusCode: error?.statusCode ?? null,
    reason: error?.reason ?? null,
    issuer: principal?.issuer ?? null,
    sub: principal?.userInfo.sub ?? null,
    actor: principal?.actor ?? null,
    tenant: askedTenant(asked),
    required: policy.requirement?.ids ?? null,
    cached,
  })
}
