import {
  AuthError,
  ERR_AUTH_RESOURCE_MISSING,
  ERR_AUTH_TENANT_SUSPENDED,
  ERR_AUTH_TENANT_UNKNOWN,
  ERR_AUTH_TOKEN_MISSING,
  type StepUp,
} from '../errors.ts'
import { changedIssuerRefusal, MOST_TURNS } from '../identity/authentication/jwt-verifier.ts'
import { Membership, type Principal } from '../identity/authorization/principal.ts'
import {
  type Requirement,
  type RequirementByRequest,
  requiredBy,
} from '../identity/authorization/requirement.ts'
import type { AddressedTenants } from '../identity/jwt/addressed-tenants.ts'
import { AnyTenant, type TenantState } from '../identity/tenants/known-tenants.ts'
import { callResolveTenant, type RequestUser } from '../identity/tenants/resolve-tenant.ts'
import { isTenantName, missingTenantRefusal, readTenant } from '../identity/tenants/tenant-name.ts'
import { withoutStack } from '../platform/runtime/error.ts'
import { logLine } from '../platform/runtime/log-line.ts'
import { after, type MaybePromise } from '../platform/runtime/maybe-promise.ts'
import { NEVER_MET } from '../routes/declaration.ts'
import { type AuthContext, type DecisionState, isAdmitted } from './context.ts'

/** A request without a user. Only an open route, and one with `guests`, admits it. */
export const GUEST = Symbol('guest')

/** A user is known, and nothing else is decided. Only `identify` returns it. */
export const UNDECIDED = Symbol('undecided')

export type Decision = Membership | typeof GUEST | AuthError

/**
 * The first half of the decision on a route that is late: the user. The last gate asks again, since
 * the token may have ended by then.
 */
export function identify(context: AuthContext): MaybePromise<typeof UNDECIDED | AuthError> {
  const { authenticator, waits } = context.rules
  const user = authenticator.authenticate(context.request, waits, context) // 401, 503
  return after(user, (found) => (found instanceof AuthError ? found : UNDECIDED))
}

/**
 * The decision on a guarded request. A number behind a call is the status of its refusals. Refusals
 * that anybody can cause cheaply are returned, because to throw them would cost more than the steps
 * before; others are thrown, and the guard catches them. Four steps may wait: who asks, which
 * tenant, whether it exists, and newer rights. Without a wait there is no promise.
 */
export function decide(context: AuthContext, turns = MOST_TURNS): MaybePromise<Decision> {
  const { authenticator, waits } = context.rules
  if (context.policy.noauth) return decideFor(null, context)
  const user = authenticator.authenticate(context.request, waits, context) // 401, 503
  const decision =
    user instanceof Promise
      ? user.then((found) => decideFor(found, context))
      : decideFor(user, context)
  if (!(decision instanceof Promise)) return decision
  // A failure stands: a proof whose note was late may be noted by now, and count as replayed.
  return decision.then((decided) => {
    if (!isWithdrawn(context)) return decided
    // While it waited, its issuer got other tenants or keys. The old ones count no more.
    if (turns === 0) return changedIssuerRefusal()
    resetUser(context)
    return decide(context, turns - 1)
  })
}

/** True: the issuer of the request's token, its rules or its keys have been replaced. */
export function isWithdrawn({ verified }: DecisionState): boolean {
  return verified?.validity.isWithdrawn === true
}

/** Forgets the user. The keys that its sender has proved to hold stay proved. */
export function resetUser(context: DecisionState): void {
  context.verified = null
  context.principal = null
  context.isRenewed = false
}

/** @param user null: the route is open, and nobody was asked for */
function decideFor(
  user: Principal | AuthError | null,
  context: AuthContext,
): MaybePromise<Decision> {
  const isGuest = context.policy.guests && user instanceof ERR_AUTH_TOKEN_MISSING
  const principal = isGuest ? null : user
  if (principal instanceof AuthError) return principal
  context.principal = principal
  const tenant = requestTenant(context) // 400, 503
  if (tenant instanceof Promise) return tenant.then((name) => decideIn(name, context))
  return decideIn(tenant, context)
}

/** The decision on the principal of the context; without one it is a guest. */
export function decideIn(
  tenant: string | null | AuthError,
  context: DecisionState,
): MaybePromise<Decision> {
  if (tenant instanceof AuthError) return tenant
  context.tenant = tenant
  const { principal, rules } = context
  let member: Membership | typeof GUEST = GUEST
  if (principal !== null) {
    const { addressed } = principal
    if (addressed?.include(tenant) === false) return addressRefusal(addressed, context) // 401
    // Before the tenant's existence, so that users cannot probe which tenants exist.
    const membership = principal.find(tenant)
    if (membership === undefined) {
      return decideByNewerRights(context, () => decideForNonMember(principal, context)) // 403
    }
    member = membership
  }
  const { knownTenants, waits } = rules
  const mustExist = tenant !== null && !(knownTenants instanceof AnyTenant)
  const state = mustExist ? knownTenants.stateOf(tenant, waits) : true // 503
  if (state instanceof Promise) return state.then((found) => decideInState(found, member, context))
  return decideInState(state, member, context)
}

function decideInState(
  state: TenantState,
  member: Membership | typeof GUEST,
  context: DecisionState,
): MaybePromise<Decision> {
  if (state === false) return unknownTenantRefusal() // 404
  const membership = state === 'suspended' ? memberOfSuspended(member, context) : member // 403, 404
  if (membership instanceof AuthError) return membership
  const { requirement, stepUp } = context.policy
  if (requirement !== null) {
    if (membership === GUEST) {
      return withoutStack(() => new ERR_AUTH_TOKEN_MISSING('a guest holds no resource'))
    }
    const { principal } = membership
    const required = requirement.mode === 'by' ? chosenBy(requirement, context) : requirement
    if (required === undefined) return resourceRefusal(requirement, principal) // 403
    if (!membership.meets(required)) {
      return decideByNewerRights(context, () => resourceRefusal(required, principal)) // 403
    }
  }
  // The login is judged last, so that nobody logs in again and is refused still.
  return stepUp === null ? membership : (loginRefusal(stepUp, context) ?? membership) // 401
}

/**
 * The decision by newer rights, if those that were kept would refuse the request; once for each
 * decision. If there are no newer ones, the refusal stands.
 */
function decideByNewerRights(
  context: DecisionState,
  refusal: () => MaybePromise<Decision>,
): MaybePromise<Decision> {
  const { principal, verified, rules } = context
  if (!principal || !verified?.external || context.isRenewed) return refusal()
  context.isRenewed = true
  return after(verified.external.renewed(principal, verified, rules.waits), (renewed) => {
    if (renewed === undefined) return refusal()
    context.principal = renewed
    return decideIn(context.tenant, context)
  })
}

/** A token for the address of another tenant is none here, not even that of a superuser. */
function addressRefusal(addressed: AddressedTenants, context: DecisionState): AuthError {
  context.principal = null
  context.verified = null
  return addressed.refusal(context.tenant)
}

const COUNTS_AS_GUEST = 'tenant auth: a user counts as a guest'

/** On a route for guests, a user who may not act for the tenant is a guest. */
function decideForNonMember(principal: Principal, context: DecisionState): MaybePromise<Decision> {
  const { request, policy, tenant } = context
  const refusal = withoutStack(() => principal.tenantRefusal())
  if (!policy.guests) return refusal
  const { reason } = refusal
  if (request !== null) logLine(request.log, 'debug', COUNTS_AS_GUEST, { reason })
  context.principal = null
  context.cached = null
  return decideIn(tenant, context)
}

/** The member of a suspended tenant, or its refusal. To a guest the tenant seems not to exist. */
function memberOfSuspended(member: Membership | typeof GUEST, context: DecisionState): Decision {
  const isServed = servesSuspended(context)
  if (member === GUEST) return isServed ? GUEST : unknownTenantRefusal()
  const { principal, tenant } = member
  if (!isServed && !principal.isSuperuser) return suspendedRefusal()
  return new Membership(principal, tenant, true)
}

function unknownTenantRefusal(): AuthError {
  return withoutStack(() => new ERR_AUTH_TENANT_UNKNOWN('the tenant does not exist'))
}

/** A suspended tenant is served to its members, and to guests. */
export function servesSuspended({ request, policy, rules }: DecisionState): boolean {
  if (policy.suspended) return true
  // Nobody knows whether a caller without a request only reads.
  if (request === null) return false
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  return (
    rules.suspendedTenants === 'read' && isRead && !WEBSOCKET.test(request.headers.upgrade ?? '')
  )
}

/** One of the protocols that a client offers. Some clients offer `h2c` with each request. */
const WEBSOCKET = /websocket/i

export function suspendedRefusal(): AuthError {
  return withoutStack(() => new ERR_AUTH_TENANT_SUSPENDED('the tenant is suspended'))
}

function resourceRefusal(
  required: Requirement | RequirementByRequest,
  principal: Principal,
): AuthError {
  return withoutStack(() =>
    required === NEVER_MET
      ? new ERR_AUTH_RESOURCE_MISSING([], 'the route is closed: it was wrong at boot, or unknown')
      : principal.resourceRefusal(required.ids),
  )
}

/** Undefined: the login is what the route wants. Judged each time, of superusers too. */
export function loginRefusal(stepUp: StepUp, { principal }: DecisionState): AuthError | undefined {
  return withoutStack(() =>
    principal === null
      ? new ERR_AUTH_TOKEN_MISSING('a guest has no login')
      : principal.loginRefusal(stepUp),
  )
}

const BY_FAILED = 'tenant auth: require.by failed; the request is refused'

/** Undefined if the route's function cannot say what the request requires: nobody meets that. */
function chosenBy(required: RequirementByRequest, context: DecisionState): Requirement | undefined {
  const { request } = context
  if (request === null) return undefined
  try {
    // A decision that is made anew asks for no other ids: the body has been read by then.
    context.required ??= requiredBy(required, request)
    return { mode: 'all', ids: context.required }
  } catch (error) {
    logLine(request.log, 'error', BY_FAILED, {}, error)
    return undefined
  }
}

function requestTenant(context: AuthContext): MaybePromise<string | null | AuthError> {
  const { previous, request, policy, rules } = context
  // Decided anew at the last gate: what names the tenant may have been changed by the validation.
  if (previous !== null && isAdmitted(previous)) return previous.tenant
  const inUrl = urlTenant(context)
  if (inUrl !== undefined) return readTenant(inUrl)
  if (policy.tenant === 'path') return missingTenantRefusal()
  if (policy.tenant === null) return null
  const { resolveTenant } = rules
  const absent = () => (policy.mayBeAbsent ? null : missingTenantRefusal())
  if (resolveTenant === undefined) return absent()
  const read = (name: string | null) => (name === null ? absent() : readTenant(name))
  const ask = () => resolveTenant(request, requestUser(context.principal))
  return after(callResolveTenant(ask, rules.timeout, rules.waits, rules.reportTenant), read)
}

function requestUser(principal: Principal | null): RequestUser | null {
  if (principal === null) return null
  const { issuer, tokenSub: sub, tenants } = principal
  return Object.freeze({ issuer, sub, tenants })
}

/** The value at the tenant's place in the URL. A path with a tenant leaves the query unread. */
function urlTenant({ request, policy, rules }: AuthContext): unknown {
  const inPath = property(request.params, rules.tenantParameter)
  if (inPath !== undefined || policy.tenant === 'path' || policy.tenant === null) return inPath
  return rules.resolveTenant === undefined ? property(request.query, rules.tenantQuery) : undefined
}

/** The valid name that a request asks for, if it is known. Nothing is asked to find it. */
export function requestedTenant(context: AuthContext): string | null {
  if (context.tenant !== null) return context.tenant
  try {
    const { previous } = context
    const name = previous === null ? urlTenant(context) : previous.tenant
    return isTenantName(name) ? name : null
  } catch {
    // Params and query come from the application's router and parser. Their getters may throw.
    return null
  }
}

/** As `ownProperty`, of whatever a query parser or a router gives; its getters count. */
function property(holder: unknown, name: string): unknown {
  if (typeof holder !== 'object' || holder === null || Array.isArray(holder)) return undefined
  return Object.hasOwn(holder, name) ? Reflect.get(holder, name) : undefined
}
