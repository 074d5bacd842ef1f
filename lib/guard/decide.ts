import { AuthError, ERR_AUTH_TENANT_UNKNOWN } from '../errors.ts'
import { isObject } from '../outside/is-object.ts'
import { after, type NowOrLater } from '../outside/now-or-later.ts'
import { withoutStack } from '../outside/without-stack.ts'
import type { Authorization } from '../rights/authorization.ts'
import type { Principal } from '../rights/principal.ts'
import { askForTenant, readNoTenant, readTenant } from '../tenants/resolve-tenant.ts'
import type { Asked } from './asked.ts'

interface Authenticated {
  readonly asked: Asked
  readonly principal: Principal
}

interface Addressed extends Authenticated {
  readonly tenant: string | null
}

interface Permitted extends Authenticated {
  readonly authorization: Authorization
}

/** What a step gives to the next one, or the refusal. */
type Outcome<T> = NowOrLater<T | AuthError>

/**
 * The decision on a guarded request, step by step. A step gives its refusal back: to throw it would
 * cost more than the steps before. What waits for others may throw it, too. The result is a promise
 * only if a step has to wait.
 */
export function decide(asked: Asked): Outcome<Authorization> {
  const authenticated = authenticate(asked) //                           401, 503
  const addressed = unlessRefused(authenticated, resolveTenant) //       400, 503
  const permitted = unlessRefused(addressed, permitTenant) //            403
  const existing = unlessRefused(permitted, refuseUnknownTenant) //      404, 503
  return unlessRefused(existing, meetRequirement) //                     403
}

function unlessRefused<A, B>(before: Outcome<A>, step: (value: A) => Outcome<B>): Outcome<B> {
  return after(before, (value) => (value instanceof AuthError ? value : step(value)))
}

function authenticate(asked: Asked): Outcome<Authenticated> {
  const { authenticator, waits } = asked.rules
  return unlessRefused(authenticator.authenticate(asked.request, waits, asked), (principal) => {
    asked.principal = principal
    return { asked, principal }
  })
}

function resolveTenant({ asked, principal }: Authenticated): Outcome<Addressed> {
  return unlessRefused(namedTenant(asked), (tenant) => {
    asked.tenant = tenant
    return { asked, principal, tenant }
  })
}

function namedTenant(asked: Asked): Outcome<string | null> {
  const { request, policy, rules } = asked
  const inUrl = tenantInUrl(asked)
  if (inUrl !== undefined) return readTenant(inUrl)
  if (policy.tenant === 'path') return readNoTenant(false)
  if (policy.tenant === null) return null
  const { resolveTenant } = rules
  if (resolveTenant === undefined) return readNoTenant(policy.mayBeAbsent)
  return after(
    askForTenant(() => resolveTenant(request), rules.timeout, rules.waits, rules.reportTenant),
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
function permitTenant({ asked, principal, tenant }: Addressed): Permitted | AuthError {
  const authorization = principal.find(tenant)
  if (authorization === undefined) return withoutStack(() => principal.mayNotAct())
  return { asked, principal, authorization }
}

function refuseUnknownTenant(permitted: Permitted): Outcome<Permitted> {
  const { tenant } = permitted.authorization
  if (tenant === null) return permitted
  const { knownTenants, waits } = permitted.asked.rules
  return after(knownTenants.has(tenant, waits), (exists) =>
    exists
      ? permitted
      : withoutStack(() => new ERR_AUTH_TENANT_UNKNOWN('the tenant does not exist')),
  )
}

function meetRequirement({
  asked,
  principal,
  authorization,
}: Permitted): Authorization | AuthError {
  const { requirement } = asked.policy
  if (requirement === null) return authorization
  if (principal.meets(authorization, requirement)) return authorization
  return withoutStack(() => principal.lacks(requirement.ids))
}

/** By own properties, because a query parser or a router may give any object. */
function property(holder: unknown, name: string): unknown {
  return isObject(holder) && Object.hasOwn(holder, name) ? holder[name] : undefined
}
