import { AuthError, ERR_AUTH_TENANT_UNKNOWN } from '../errors.ts'
import type { Authorization } from '../identity/authorization/authorization.ts'
import type { Principal } from '../identity/authorization/principal.ts'
import { AnyTenant } from '../identity/tenants/known-tenants.ts'
import { askForTenant } from '../identity/tenants/resolve-tenant.ts'
import { isTenantName, readNoTenant, readTenant } from '../identity/tenants/tenant-name.ts'
import { withoutStack } from '../platform/runtime/error.ts'
import type { MaybePromise } from '../platform/runtime/maybe-promise.ts'
import type { AuthContext } from './context.ts'

type Decision = Authorization | AuthError

/**
 * The decision on a guarded request. Each step returns its refusal, because to throw it would cost
 * more than the steps before. Only three questions may have to wait: who asks, which tenant, and
 * whether that exists. Without a wait there is no promise.
 */
export function decide(context: AuthContext): MaybePromise<Decision> {
  const { authenticator, waits } = context.rules
  const principal = authenticator.authenticate(context.request, waits, context) // 401, 503
  if (principal instanceof Promise) return principal.then((found) => decideFor(found, context))
  return decideFor(principal, context)
}

function decideFor(principal: Principal | AuthError, context: AuthContext): MaybePromise<Decision> {
  if (principal instanceof AuthError) return principal
  context.principal = principal
  const tenant = namedTenant(context) // 400, 503
  if (tenant instanceof Promise) return tenant.then((name) => decideIn(name, principal, context))
  return decideIn(tenant, principal, context)
}

function decideIn(
  tenant: string | null | AuthError,
  principal: Principal,
  context: AuthContext,
): MaybePromise<Decision> {
  if (tenant instanceof AuthError) return tenant
  context.tenant = tenant
  // Asked before whether the tenant exists, so that users cannot probe which tenants do.
  const authorization = principal.find(tenant)
  if (authorization === undefined) return withoutStack(() => principal.mayNotAct()) // 403
  const { knownTenants, waits } = context.rules
  const areAsked = tenant !== null && !(knownTenants instanceof AnyTenant)
  const exists = !areAsked || knownTenants.has(tenant, waits) // 404, 503
  if (exists instanceof Promise) {
    return exists.then((doesExist) =>
      doesExist ? meetRequirement(authorization, principal, context) : unknownTenant(),
    )
  }
  return exists ? meetRequirement(authorization, principal, context) : unknownTenant()
}

function unknownTenant(): AuthError {
  return withoutStack(() => new ERR_AUTH_TENANT_UNKNOWN('the tenant does not exist'))
}

function meetRequirement(
  authorization: Authorization,
  principal: Principal,
  { policy: { requirement } }: AuthContext,
): Decision {
  if (requirement === null) return authorization
  if (principal.meets(authorization, requirement)) return authorization
  return withoutStack(() => principal.lacks(requirement.ids)) // 403
}

function namedTenant(context: AuthContext): MaybePromise<string | null | AuthError> {
  const { request, policy, rules } = context
  const inUrl = tenantInUrl(context)
  if (inUrl !== undefined) return readTenant(inUrl)
  if (policy.tenant === 'path') return readNoTenant(false)
  if (policy.tenant === null) return null
  const { resolveTenant } = rules
  if (resolveTenant === undefined) return readNoTenant(policy.mayBeAbsent)
  const read = (name: unknown) =>
    name === null ? readNoTenant(policy.mayBeAbsent) : readTenant(name)
  const ask = () => resolveTenant(request)
  const named = askForTenant(ask, rules.timeout, rules.waits, rules.reportTenant)
  return named instanceof Promise ? named.then(read) : read(named)
}

/** The value at the tenant's place in the URL. A path with a tenant leaves the query unread. */
function tenantInUrl({ request, policy, rules }: AuthContext): unknown {
  const inPath = property(request.params, rules.tenantParameter)
  if (inPath !== undefined || policy.tenant === 'path' || policy.tenant === null) return inPath
  return rules.resolveTenant === undefined ? property(request.query, 'tenant') : undefined
}

/** The valid name that a request asks for, if it is known. Nothing is asked to find it. */
export function requestedTenant(context: AuthContext): string | null {
  if (context.tenant !== null) return context.tenant
  try {
    const name = tenantInUrl(context)
    return isTenantName(name) ? name : null
  } catch {
    // Params and query come from the application's router and parser. Their getters may throw.
    return null
  }
}

/** By own properties, because a query parser or a router may give any object. */
function property(holder: unknown, name: string): unknown {
  if (typeof holder !== 'object' || holder === null || Array.isArray(holder)) return undefined
  return Object.hasOwn(holder, name) ? Reflect.get(holder, name) : undefined
}
