import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import type { Authenticator, Finding } from '../authentication/authenticator.ts'
import type { Verified } from '../authentication/verified-tokens.ts'
import type { WatchRevocation } from '../authentication/watch-revocation.ts'
import type { Policy } from '../declaration/policy.ts'
import type { AuthError } from '../errors.ts'
import type { ReportFailure } from '../outside/ask-application.ts'
import type { Waits } from '../outside/waits.ts'
import type { Principal } from '../rights/principal.ts'
import type { LogBinding } from '../settings/application-options.ts'
import type { KnownTenants } from '../tenants/known-tenants.ts'
import type { TokenInfo } from '../tokens/token-info.ts'
import type { UserInfo } from '../tokens/user-info.ts'

/** What a decision needs, apart from the request and its route. */
export interface DecisionRules {
  readonly authenticator: Authenticator
  readonly knownTenants: KnownTenants
  /** Name of the path parameter that is the tenant. */
  readonly tenantParameter: string
  readonly resolveTenant?: ((request: FastifyRequest) => unknown) | undefined
  /** Is told why `resolveTenant` gave no answer. */
  readonly reportTenant?: ReportFailure
  /** Seconds by which clocks may differ. */
  readonly clockTolerance: number
  /** A deny list that is `isRevoked`. It answers at once, and throws if it cannot tell. */
  readonly denies?: ((userInfo: UserInfo, token: TokenInfo) => boolean) | undefined
  /** Undefined: `isRevoked` can only be asked, or is not given. */
  readonly watchRevocation?: WatchRevocation | undefined
  /** Seconds for one call of `resolveTenant`. */
  readonly timeout: number
  /** Whether `currentAuthorization()` tells the authorization of a request. */
  readonly asyncContext: boolean
  /** The waits of the application's requests. They end when it closes. */
  readonly waits: Waits
  /** Counts decisions; null: admitted. */
  readonly counts: { count(error: AuthError | null): void }
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
