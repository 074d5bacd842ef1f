import { hash } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { AuthError, ERR_AUTH_KEYS_UNAVAILABLE } from '../errors.ts'
import type { Authenticator } from '../identity/authentication/authenticator.ts'
import { changedIssuerRefusal } from '../identity/authentication/jwt-verifier.ts'
import type { Verified } from '../identity/authentication/verified-tokens.ts'
import type { Authorization } from '../identity/authorization/authorization.ts'
import { runWithAuthorization } from '../identity/authorization/current-authorization.ts'
import { Membership, type Principal } from '../identity/authorization/principal.ts'
import type { Requirement } from '../identity/authorization/requirement.ts'
import { isTenantName, readTenant } from '../identity/tenants/tenant-name.ts'
import { PendingRequests } from '../platform/callbacks/pending-requests.ts'
import { withoutStack } from '../platform/runtime/error.ts'
import { isPlainObject, knownMembers } from '../platform/runtime/own-property.ts'
import { readRequirement } from '../routes/declaration.ts'
import { AdmissionSignal, withLateListeners } from './abort-signal.ts'
import type { CallRules, DecisionState } from './context.ts'
import { type Decision, decideIn, isWithdrawn, resetUser } from './decide.ts'
import { recordCall } from './decision-events.ts'
import { asRefusal, endRefusal, notAdmitted } from './guard.ts'

/** The caller without a request, and what it asks for. */
export interface Credentials {
  /** The token alone, without a scheme. Empty: 401 ERR_AUTH_TOKEN_MISSING. */
  readonly token: string
  /** The name of the tenant; null: none. @default null */
  readonly tenant?: string | null
  /** As on a route: resource ids, each `<name>:<action>`: the one, all, or any. @default none */
  readonly require?: string | readonly string[] | { readonly any: readonly string[] } | false
}

/** A caller that may do what it asked for. */
export interface Caller {
  readonly authorization: Authorization
  /**
   * Aborted when the caller would not be let in any more: as `signalOf`, and when the service
   * closes. Watched from the first look at it until the token ends. All callers by a token in a
   * tenant share it, and each setting of `onabort` adds a listener.
   */
  readonly signal: AbortSignal
}

interface CallersRules extends Omit<CallRules, 'waits' | 'suspendedTenants'> {
  readonly authenticator: Authenticator
  /** True: a token must be bound to its sender, which nobody can prove without a request. */
  readonly mustBeBound: boolean
}

/** Callers that are no request: sockets of other servers, and messages of queues. */
export class Callers {
  readonly isReady = true
  readonly #authenticator: Authenticator
  readonly #mustBeBound: boolean
  readonly #waits = new PendingRequests()
  readonly #rules: CallRules
  /** By all that they depend on. A token that the cache has let go of is proved anew. */
  readonly #watches = new Map<string, AdmissionSignal>()
  #state: 'new' | 'open' | 'closed' = 'new'

  constructor({ authenticator, mustBeBound, ...rules }: CallersRules) {
    this.#authenticator = authenticator
    this.#mustBeBound = mustBeBound
    this.#rules = { ...rules, waits: this.#waits, suspendedTenants: 'refuse' }
  }

  open(): void {
    this.#state = 'open'
    this.#waits.resume()
  }

  /** Ends what callers wait for, and their signals. */
  close(): void {
    if (this.#state === 'open') this.#state = 'closed'
    this.#waits.end()
    for (const watched of [...this.#watches.values()]) watched.abort(closed())
  }

  /**
   * @throws TypeError before the first installation, and for wrong arguments
   * @throws the refusals of a guarded request
   */
  async authenticate(given: unknown): Promise<Caller> {
    const { token, tenant, requirement } = readCredentials(given)
    if (this.#state === 'new') throw new TypeError('authenticate() is called before install()')
    const call = new Call(this.#rules, requirement, this.#mustBeBound)
    // A refusal names the valid tenant that was asked for.
    if (isTenantName(tenant)) call.tenant = tenant
    const refusal = await this.#refusalOf(call, token, tenant)
    call.error = refusal
    recordCall(call)
    const { membership } = call
    if (refusal !== null || membership === null) throw refusal ?? notAdmitted()
    const { authorization } = membership
    let signal: AbortSignal | undefined
    const watch = () => {
      signal ??= this.#watch(call, token, authorization)
      return withLateListeners(signal, call)
    }
    return Object.freeze({
      authorization,
      get signal() {
        return watch()
      },
    })
  }

  async #refusalOf(call: Call, token: string, tenant: unknown): Promise<AuthError | null> {
    try {
      if (this.#state === 'closed') return closed()
      // Answers serve requests, too, so the question runs under no authorization.
      const decide = () => runWithAuthorization(null, () => this.#decide(call, token, tenant))
      const refusal = admit(call, await decide())
      // Answers may take their time. If the token has ended since, everything is asked anew.
      if (changedRefusal(call) === undefined) return refusal
      const again = admit(call, await decide())
      const changed = changedRefusal(call)
      if (changed === undefined) return again
      call.principal = null
      return changed
    } catch (error) {
      return asRefusal(error)
    }
  }

  async #decide(call: Call, token: string, wanted: unknown): Promise<Decision> {
    resetUser(call)
    const found = await this.#authenticator.authenticateToken(token, this.#waits, call)
    if (found instanceof AuthError) return found
    call.principal = found
    return decideIn(wanted === null ? null : readTenant(wanted), call)
  }

  /**
   * One signal for all callers by a token: a socket may come again and again. None that follows it,
   * by `AbortSignal.any`: Node 22 to 26 lose the ends of some that nobody holds.
   */
  #watch(call: Call, token: string, authorization: Authorization): AbortSignal {
    const { verified } = call
    const { tenant, isSuperuser, expiresAt } = authorization
    // In dev mode there is no token.
    const proved = verified && [hash('sha256', token), verified.names, verified.lifetime]
    // A superuser is let into suspended tenants, too.
    const key = JSON.stringify([proved, expiresAt, tenant, isSuperuser])
    const known = this.#watches.get(key)
    if (known !== undefined) return known.signal
    const watched = new AdmissionSignal(call)
    const { signal } = watched
    if (this.#state === 'closed') watched.abort(closed())
    if (signal.aborted) return signal
    keepListeners(signal)
    this.#watches.set(key, watched)
    signal.addEventListener('abort', () => this.#watches.delete(key), { once: true })
    return signal
  }
}

class Call implements DecisionState {
  readonly request = null
  readonly policy: DecisionState['policy']
  readonly rules: CallRules
  readonly mustBeBound: boolean
  readonly possession = null
  token: string | null = null
  cached: boolean | null = null
  verified: Verified | null = null
  principal: Principal | null = null
  tenant: string | null = null
  required: readonly string[] | null = null
  isRenewed = false
  membership: Membership | null = null
  error: AuthError | null = null

  constructor(rules: CallRules, requirement: Requirement | null, mustBeBound: boolean) {
    this.rules = rules
    this.mustBeBound = mustBeBound
    this.policy = { guests: false, suspended: false, stepUp: null, checks: null, requirement }
  }
}

/** The `onabort` of one caller must not take the place of another one's. */
function keepListeners(signal: AbortSignal): void {
  const add = (listener: unknown) => {
    if (typeof listener !== 'function') return
    // Two callers may set one function, which is added only once.
    signal.addEventListener('abort', (event) => listener.call(signal, event))
  }
  Object.defineProperty(signal, 'onabort', { get: () => null, set: add })
  setMaxListeners(0, signal)
}

/** Returns the refusal; null: the caller is admitted. */
function admit(call: Call, decision: Decision): AuthError | null {
  if (decision instanceof AuthError) return decision
  if (!(decision instanceof Membership)) return notAdmitted()
  call.membership = decision
  return null
}

/** The refusal by which a decision counts no more; undefined: it still does. */
function changedRefusal(call: Call): AuthError | undefined {
  return isWithdrawn(call) ? changedIssuerRefusal() : endRefusal(call)
}

function closed(): AuthError {
  return withoutStack(() => new ERR_AUTH_KEYS_UNAVAILABLE(1, 'the service has closed'))
}

const WRONG =
  'authenticate() takes a plain object with token (a string), and tenant (a string or null) and require as on a route, without { by }'

interface ReadCredentials {
  readonly token: string
  /** Null: none. Anything else may be a tenant's name. */
  readonly tenant: unknown
  readonly requirement: Requirement | null
}

/** @throws TypeError */
function readCredentials(given: unknown): ReadCredentials {
  let read: ReadCredentials | undefined
  try {
    read = readMembers(given)
  } catch {
    // A proxy of the application may throw anything.
  }
  if (read === undefined) throw new TypeError(WRONG)
  return read
}

function readMembers(given: unknown): ReadCredentials | undefined {
  if (!isPlainObject(given)) return undefined
  const own = knownMembers(given, ['token', 'tenant', 'require'])
  if (own === undefined) return undefined
  const token = own.get('token')
  const problems: string[] = []
  const requirement = readRequirement(own.get('require'), problems)
  if (typeof token !== 'string' || problems.length > 0) return undefined
  if (requirement?.mode === 'by') return undefined
  return { token, tenant: own.get('tenant') ?? null, requirement }
}
