import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import type { Authenticator, Finding } from '../authentication/authenticator.ts'
import type { Verified } from '../authentication/verified-tokens.ts'
import type { WatchRevocation } from '../authentication/watch-revocation.ts'
import type { Policy } from '../declaration/policy.ts'
import { ERR_AUTH_TENANT_UNKNOWN } from '../errors.ts'
import type { DecisionCounts } from '../inspection/decision-counts.ts'
import { isObject } from '../outside/is-object.ts'
import { after, type NowOrLater } from '../outside/now-or-later.ts'
import type { Waits } from '../outside/waits.ts'
import { withoutStack } from '../outside/without-stack.ts'
import type { Authorization } from '../rights/authorization.ts'
import type { Principal } from '../rights/principal.ts'
import type { LogBinding } from '../settings/application-options.ts'
import type { KnownTenants } from '../tenants/known-tenants.ts'
import { askForTenant, readNoTenant, readTenant } from '../tenants/resolve-tenant.ts'

/** What a decision needs, apart from the request and its route. */
export interface DecisionRules {
  readonly authenticator: Authenticator
  readonly knownTenants: KnownTenants
  /** Name of the path parameter that is the tenant. */
  readonly tenantParameter: string
  readonly resolveTenant?: ((request: FastifyRequest) => unknown) | undefined
  /** Seconds by which clocks may differ. */
  readonly clockTolerance: number
  /** Undefined: `isRevoked` can only be asked, or is not given. */
  readonly watchRevocation?: WatchRevocation | undefined
  /** Seconds for one call of `resolveTenant`. */
  readonly timeout: number
  /** Whether `currentAuthorization()` tells the authorization of a request. */
  readonly asyncContext: boolean
  /** The waits of the application's requests. They end when it closes. */
  readonly waits: Waits
  readonly counts: DecisionCounts
  /** What later lines of the log name; undefined: nothing. */
  readonly logBindings?: readonly LogBinding[] | undefined
}

/**
 * A guarded request. What is found out about it is noted at once, so that a refusal can name its
 * user and its tenant.
 */
export class Asked implements Finding {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly policy: Policy
  readonly rules: DecisionRules
  /** The same request, as it was asked about before. */
  readonly before: Asked | null
  cached: boolean | null = null
  verified: Verified | null = null
  principal: Principal | null = null
  tenant: string | null = null
  /** Null: not decided yet. */
  outcome: 'admitted' | 'refused' | null = null
  /** The log without `logBindings`, once there is one with them. */
  plainLog: FastifyBaseLogger | null = null

  constructor(
    { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
    policy: Policy,
    rules: DecisionRules,
    before: Asked | null,
  ) {
    this.request = request
    this.reply = reply
    this.policy = policy
    this.rules = rules
    this.before = before
  }
}

interface Authenticated {
  readonly asked: Asked
  readonly principal: Principal
}

interface Addressed extends Authenticated {
  readonly tenant: string | null
}

interface Permitted {
  readonly asked: Asked
  readonly authorization: Authorization
}

/**
 * The decision on a guarded request, step by step. A step refuses by throwing. The result is a
 * promise only if a step has to wait.
 */
export function decide(asked: Asked): NowOrLater<Authorization> {
  const authenticated = authenticate(asked) //                      401, 503
  const addressed = after(authenticated, resolveTenant) //          400, 503
  const permitted = after(addressed, permitTenant) //               403
  const existing = after(permitted, refuseUnknownTenant) //         404, 503
  return after(existing, meetRequirement) //                        403
}

function authenticate(asked: Asked): NowOrLater<Authenticated> {
  const { authenticator, waits } = asked.rules
  return after(authenticator.authenticate(asked.request, waits, asked), (principal) => {
    asked.principal = principal
    return { asked, principal }
  })
}

function resolveTenant({ asked, principal }: Authenticated): NowOrLater<Addressed> {
  return after(namedTenant(asked), (tenant) => {
    asked.tenant = tenant
    return { asked, principal, tenant }
  })
}

function namedTenant(asked: Asked): NowOrLater<string | null> {
  const { request, policy, rules } = asked
  const inUrl = tenantInUrl(asked)
  if (inUrl !== undefined) return readTenant(inUrl)
  if (policy.tenant === 'path') return readNoTenant(false)
  if (policy.tenant === null) return null
  const { resolveTenant } = rules
  if (resolveTenant === undefined) return readNoTenant(policy.mayBeAbsent)
  return after(
    askForTenant(() => resolveTenant(request), rules.timeout, rules.waits),
    (named) => (named === null ? readNoTenant(policy.mayBeAbsent) : readTenant(named)),
  )
}

/**
 * What the URL says at the tenant's place. There is no choice of place: if the path has a tenant,
 * the query is not looked at.
 */
export function tenantInUrl({ request, policy, rules }: Asked): unknown {
  const inPath = property(request.params, rules.tenantParameter)
  if (inPath !== undefined || policy.tenant === 'path' || policy.tenant === null) return inPath
  return rules.resolveTenant === undefined ? property(request.query, 'tenant') : undefined
}

/**
 * Comes before the question whether the tenant exists, so that users cannot probe which tenants do.
 */
function permitTenant({ asked, principal, tenant }: Addressed): Permitted {
  const authorization = principal.find(tenant) ?? withoutStack(() => principal.in(tenant))
  return { asked, authorization }
}

function refuseUnknownTenant(permitted: Permitted): NowOrLater<Permitted> {
  const { tenant } = permitted.authorization
  if (tenant === null) return permitted
  const { knownTenants, waits } = permitted.asked.rules
  return after(knownTenants.has(tenant, waits), (exists) => {
    if (!exists) {
      throw withoutStack(() => new ERR_AUTH_TENANT_UNKNOWN('the tenant does not exist'))
    }
    return permitted
  })
}

function meetRequirement({ asked, authorization }: Permitted): Authorization {
  const { requirement } = asked.policy
  if (requirement === null) return authorization
  const { mode, ids } = requirement
  const isMet = mode === 'all' ? authorization.has(...ids) : authorization.hasAny(...ids)
  // A user who holds no required id does not hold all of them either.
  if (!isMet) withoutStack(() => authorization.require(...ids))
  return authorization
}

/** By own properties, because a query parser or a router may give any object. */
function property(holder: unknown, name: string): unknown {
  return isObject(holder) && Object.hasOwn(holder, name) ? holder[name] : undefined
}
