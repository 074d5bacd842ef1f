import { channel } from 'node:diagnostics_channel'
import type { AuthError } from '../errors.ts'
import type { Asked } from './asked.ts'
import { askedTenant } from './asked-tenant.ts'
import type { DecisionEvent } from './decision-event.ts'

const decisions = channel('fastify-tenant-auth:decision')

/** @param error null: the request was admitted */
export function tellDecision(asked: Asked, error: AuthError | null): void {
  if (decisions.hasSubscribers) decisions.publish(eventOf(asked, error))
}

/** Tells of work without a request, which acts as a user in a tenant. */
export function tellInternal({ sub, tenant }: Pick<DecisionEvent, 'sub' | 'tenant'>): void {
  if (!decisions.hasSubscribers) return
  const event: DecisionEvent = {
    request: null,
    outcome: 'internal',
    code: null,
    statusCode: null,
    reason: null,
    issuer: null,
    sub,
    tokenSub: sub,
    actor: null,
    tenant,
    required: null,
    cached: null,
  }
  decisions.publish(Object.freeze(event))
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
    sub: principal?.sub ?? null,
    tokenSub: principal?.tokenSub ?? null,
    actor: principal?.actor ?? null,
    tenant: askedTenant(asked),
    required: policy.requirement?.ids ?? null,
    cached,
  })
}
