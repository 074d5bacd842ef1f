import { channel } from 'node:diagnostics_channel'
import type { FastifyBaseLogger, FastifyRequest } from 'fastify'
import type { LogBinding } from '../config/options.ts'
import type { AuthError } from '../errors.ts'
import type { Principal } from '../identity/authorization/principal.ts'
import type { Actor } from '../identity/jwt/registered-claims.ts'
import type { Possessed } from '../identity/proofs/possession.ts'
import type { AuthContext, DecisionState } from './context.ts'
import { requestedTenant } from './decide.ts'

/**
 * A message of the channel `fastify-tenant-auth:decision`: the decision on a guarded request, or
 * work without a request. Immutable, but for the request.
 */
export interface DecisionEvent {
  /** Null: work, or a caller, without a request. */
  readonly request: FastifyRequest | null
  readonly outcome: 'admitted' | 'refused' | 'internal'
  /** The code of the error; null: not refused. */
  readonly code: string | null
  readonly statusCode: number | null
  /** The exact reason, in the constant words of the log. */
  readonly reason: string | null
  /** The issuer of the token; null: nobody was authenticated, or the token does not name it. */
  readonly issuer: string | null
  /** The user; null: nobody was authenticated. */
  readonly sub: string | null
  /** The `sub` of the token, before `mapClaims`; null: it has none. */
  readonly tokenSub: string | null
  /** The actor for the user; null: the user itself. */
  readonly actor: Actor | null
  /** The valid name that was asked for. The tenant of a refusal need not exist. */
  readonly tenant: string | null
  /** The ids that the route requires; of `by` those that it chose, or all where it failed. */
  readonly required: readonly string[] | null
  /** The names of the route's checks. */
  readonly checks: readonly string[] | null
  /** True: the token was known. Null: no token counted. */
  readonly cached: boolean | null
  /**
   * How the sender of an admitted request has proved to hold the keys of its token: `dpop` if it
   * proved both. Null: the token is not bound, or that is not checked.
   */
  readonly bound: Possessed['bound']
}

const decisions = channel('fastify-tenant-auth:decision')

/**
 * Records a decision, once for each request: its user is bound to the log, it is counted, and an
 * event is published. A request may be decided again. If that changes the outcome, or the tenant,
 * the user or the actor of an admission, it is recorded again: an audit must not miss a refusal
 * that came late.
 */
export function recordDecision(context: AuthContext): void {
  const { previous, error, rules } = context
  if (rules.logBindings !== undefined) bindLog(context, rules.logBindings)
  context.isRecorded = true
  if (previous?.isRecorded && isSameOutcome(previous, context)) return
  rules.counts.count(error)
  if (!decisions.hasSubscribers) return
  // `cached` is that of the first look at the token: the gate's own look always finds it.
  const first = previous === null || previous.isRecorded ? context : previous
  decisions.publish(eventOf(context, requestedTenant(context), first))
}

/** Two refusals are one outcome, whatever tenant and user they name. */
function isSameOutcome(previous: AuthContext, { error, tenant, principal }: AuthContext): boolean {
  if (previous.error !== null || error !== null) return previous.error !== null && error !== null
  return previous.tenant === tenant && namesOf(previous.principal) === namesOf(principal)
}

/** Everybody whom an event names. */
function namesOf(principal: Principal | null): string {
  return JSON.stringify([principal?.issuer, principal?.sub, principal?.tokenSub, principal?.actor])
}

export function recordCall(call: DecisionState): void {
  call.rules.counts.count(call.error)
  if (decisions.hasSubscribers) decisions.publish(eventOf(call, call.tenant))
}

/** Publishes work without a request, which acts as a user in a tenant. */
export function publishInternal({ sub, tenant }: Pick<DecisionEvent, 'sub' | 'tenant'>): void {
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
    checks: null,
    cached: null,
    bound: null,
  }
  decisions.publish(Object.freeze(event))
}

function eventOf(
  context: DecisionState,
  tenant: string | null,
  { cached } = context,
): DecisionEvent {
  const { request, policy, principal, error } = context
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
    tenant,
    required: context.required ?? policy.requirement?.ids ?? null,
    checks: policy.checks,
    cached,
    bound: error === null && principal !== null ? (context.possession?.bound ?? null) : null,
  })
}

/** The numbers of guarded requests that were admitted, and refused. */
export interface DecisionStats {
  readonly admitted: number
  /** By the code of the error, for those that occurred. */
  readonly refused: Readonly<Record<string, number>>
}

/** The decisions of one service, in all its applications. */
export class DecisionCounts {
  #admitted = 0
  readonly #refused = new Map<string, number>()

  /** @param error null: the request was admitted */
  count(error: AuthError | null): void {
    if (error === null) this.#admitted++
    else this.#refused.set(error.code, (this.#refused.get(error.code) ?? 0) + 1)
  }

  get stats(): DecisionStats {
    return { admitted: this.#admitted, refused: Object.fromEntries(this.#refused) }
  }
}

export function bindLog(context: AuthContext, names: readonly LogBinding[]): void {
  const { request, reply, principal } = context
  const known = {
    tenant: requestedTenant(context),
    sub: principal?.sub ?? null,
    issuer: principal?.issuer ?? null,
  }
  const bindings = names.map((name) => [name, known[name]]).filter(([, value]) => value !== null)
  try {
    // A log that is bound twice would have each name twice in a line.
    const plain = context.plainLog ?? context.previous?.plainLog ?? request.log
    const bound = bindings.length === 0 ? plain : childOf(plain, Object.fromEntries(bindings))
    context.plainLog = plain
    // Fastify logs by both.
    request.log = bound
    reply.log = bound
  } catch {
    // A hook of the application has put a getter there. A decision does not depend on it.
  }
}

/** True: the log has the tenant as one of the `logBindings`. */
export function hasBoundTenant({ request, rules, plainLog }: AuthContext): boolean {
  if (plainLog === null || request.log === plainLog) return false
  return rules.logBindings?.includes('tenant') === true
}

/** The methods that Fastify calls, of a logger of the application too. */
const METHODS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'child'] as const

/** A hook of the application may have put any logger there. A decision does not depend on it. */
function childOf(log: FastifyBaseLogger, bindings: object): FastifyBaseLogger {
  try {
    const child = log.child(bindings)
    return METHODS.every((name) => typeof child[name] === 'function') ? child : log
  } catch {
    return log
  }
}
