import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import type { LogBinding } from '../config/options.ts'
import type { AuthError } from '../errors.ts'
import type { Authenticator, AuthTrace } from '../identity/authentication/authenticator.ts'
import type { Denies, WatchRevocation } from '../identity/authentication/revocation-check.ts'
import type { Verified } from '../identity/authentication/verified-tokens.ts'
import type { Authorization } from '../identity/authorization/authorization.ts'
import type { Membership, Principal } from '../identity/authorization/principal.ts'
import type { KnownTenants } from '../identity/tenants/known-tenants.ts'
import type { ResolveTenant } from '../identity/tenants/resolve-tenant.ts'
import type { ReportFailure } from '../platform/callbacks/call-with-timeout.ts'
import type { PendingRequests } from '../platform/callbacks/pending-requests.ts'
import type { Policy } from '../routes/policy.ts'

/** The rules for a decision with or without a request. */
export interface CallRules {
  readonly knownTenants: KnownTenants
  /** Seconds by which clocks may differ. */
  readonly clockTolerance: number
  readonly denies?: Denies | undefined
  readonly watchRevocation?: WatchRevocation | undefined
  readonly suspendedTenants: 'refuse' | 'read'
  readonly asyncContext: boolean
  /** The waits of the application's requests. They end when it closes. */
  readonly waits: PendingRequests
  /** Counts decisions; null: admitted. */
  readonly counts: { count(error: AuthError | null): void }
}

/** The rules for the decision on a request. */
export interface DecisionRules extends CallRules {
  readonly authenticator: Authenticator
  readonly tenantParameter: string
  readonly tenantQuery: string
  readonly resolveTenant?: ResolveTenant | undefined
  readonly reportTenant: ReportFailure
  /** Seconds for one call of `resolveTenant`. */
  readonly timeout: number
  /** Names of the bindings of later log lines; undefined: none. */
  readonly logBindings?: readonly LogBinding[] | undefined
}

/** The state of a decision. `request` is null for a caller that is no request. */
export interface DecisionState extends AuthTrace {
  readonly request: FastifyRequest | null
  readonly policy: Pick<Policy, 'guests' | 'suspended' | 'requirement' | 'stepUp' | 'checks'>
  readonly rules: CallRules
  principal: Principal | null
  tenant: string | null
  required: readonly string[] | null
  isRenewed: boolean
  readonly membership: Membership | null
  readonly error: AuthError | null
}

/**
 * A guarded request and its decision. Each step writes its result here at once, so that a refusal
 * can name its user and its tenant.
 */
export class AuthContext implements DecisionState {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly policy: Policy
  readonly rules: DecisionRules
  /** The decision that this one replaces, which the last gate makes again; null: none. */
  readonly previous: AuthContext | null
  token: string | null = null
  cached: boolean | null = null
  verified: Verified | null = null
  possession: AuthTrace['possession'] = null
  principal: Principal | null = null
  tenant: string | null = null
  /** The ids that the request requires, if its route chooses them by the request. */
  required: readonly string[] | null = null
  /** True after the rights were asked for anew, because those that were kept would refuse it. */
  isRenewed = false
  /** True: the request is admitted without a user, on an open route too. */
  isGuest = false
  /** Null until the request is admitted. */
  membership: Membership | null = null
  /** Null until the request is refused. */
  error: AuthError | null = null
  /** True: the decision is counted, and an event of it published. */
  isRecorded = false
  /** The log without `logBindings`, once there is one with them. */
  plainLog: FastifyBaseLogger | null = null

  constructor(
    { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
    policy: Policy,
    rules: DecisionRules,
    previous: AuthContext | null,
  ) {
    this.request = request
    this.reply = reply
    this.policy = policy
    this.rules = rules
    this.previous = previous
    if (previous === null) return
    // A proof counts once, and so may what `tokenFrom` gave: the last gate asks for neither again,
    // nor for what the request requires.
    this.possession = previous.possession
    this.token = previous.token
    this.required = previous.required
  }

  get mustBeBound(): boolean {
    return this.policy.mustBeBound
  }

  get authorization(): Authorization | null {
    return this.membership?.authorization ?? null
  }
}

const kContext = Symbol('fastify-tenant-auth.context')

type Decided = FastifyRequest & { [kContext]?: AuthContext | null | undefined }

/** The decision on a request. Null: it is not guarded. Undefined: nothing is decided yet. */
export function authContextOf(request: Decided): AuthContext | null | undefined {
  return request[kContext]
}

export function setAuthContext(request: Decided, context: AuthContext | null | undefined): void {
  request[kContext] = context
}

export function isAdmitted({ membership, isGuest }: AuthContext): boolean {
  return membership !== null || isGuest
}

/** The context of a request that was admitted; undefined for any other. */
export function admittedContextOf(request: FastifyRequest): AuthContext | undefined {
  const context = authContextOf(request)
  return context && isAdmitted(context) ? context : undefined
}
