import type { FastifyInstance, FastifyRegisterOptions } from 'fastify'
import fp from 'fastify-plugin'
import type { AuthOptions } from './config/options.ts'
import { withoutRegisterOptions } from './config/problems.ts'
import { AuthService } from './service.ts'

export type { FindIssuer, IssuerRules, ListedIssuer } from './config/issuer-schema.ts'
export type { AuthOptions } from './config/options.ts'
export * as errors from './errors.ts'
export { signalOf } from './guard/abort-signal.ts'
export type { Caller, Credentials } from './guard/callers.ts'
export type { DecisionEvent, DecisionStats } from './guard/decision-events.ts'
export type {
  Declares,
  GuardedRequest,
  OrGuest,
  Refusal,
  RequestTenant,
} from './guard/request-api.ts'
export { authorizationOf, refusalOf } from './guard/request-api.ts'
export type { DocumentStats, Stats } from './guard/stats.ts'
export type { Invalidation, KeyStats } from './identity/authentication/authenticator.ts'
export type { OpaqueAnswer, OpaqueToken } from './identity/authentication/opaque-answer.ts'
export type { TokenCacheStats } from './identity/authentication/token-cache.ts'
export type { InternalUser } from './identity/authorization/act-as.ts'
export type { Authorization } from './identity/authorization/authorization.ts'
export { currentAuthorization } from './identity/authorization/current-authorization.ts'
export type { Check, RequireBy } from './identity/authorization/requirement.ts'
export type { ResourcesOf, TokenUser } from './identity/authorization/resources.ts'
export type { StepUpDeclaration } from './identity/authorization/step-up.ts'
export type { ConfirmationRule } from './identity/jwt/confirmation.ts'
export type { Actor } from './identity/jwt/registered-claims.ts'
export type { TokenInfo } from './identity/jwt/token-info.ts'
export type { Resources, UserInfo } from './identity/jwt/user-info.ts'
export type { ProofSeen, ProofStats } from './identity/proofs/possession.ts'
export type { ClientCertificate } from './identity/proofs/sender-proofs.ts'
export type { TenantState } from './identity/tenants/known-tenants.ts'
export type { RequestUser, ResolveTenant } from './identity/tenants/resolve-tenant.ts'
export type {
  DocumentChange,
  DocumentEvent,
  DocumentState,
} from './platform/http/document-status.ts'
export {
  type IssuersOf,
  type ResourceMetadataOptions,
  resourceMetadata,
} from './resource-metadata.ts'
export type { RouteDeclaration } from './routes/declaration.ts'
export { publicScope } from './routes/public-scope.ts'
export type { ListedRoute } from './routes/route-list.ts'
export { AuthService } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The service that guards this scope. */
    readonly authService: AuthService
  }
}

/**
 * Closes every route of an application to strangers, and ties each request to one tenant.
 *
 * @example await app.register(tenantAuth, { configFile: 'app.ini' })
 * @throws ERR_AUTH_CONFIG_INVALID, ERR_AUTH_ROUTE_INVALID at boot
 */
export const tenantAuth = fp(
  async (app: FastifyInstance, options: FastifyRegisterOptions<AuthOptions>) => {
    await new AuthService(withoutRegisterOptions(options)).install(app)
  },
  { name: 'fastify-tenant-auth', fastify: '>=5.8.5 <7' },
)

export { tenantAuth as default }
