import type {
  ContextConfigDefault,
  FastifyBaseLogger,
  FastifyRequest,
  FastifyTypeProvider,
  FastifyTypeProviderDefault,
  RawRequestDefaultExpression,
  RawServerBase,
  RawServerDefault,
  RouteGenericInterface,
  FastifySchema as Schema,
} from 'fastify'
import type { FastifyRequestType, ResolveFastifyRequestType } from 'fastify/types/type-provider.js'
import type { AuthError } from '../errors.ts'
import type { Authorization } from '../identity/authorization/authorization.ts'
import type { UserInfo } from '../identity/jwt/user-info.ts'
import type { RouteDeclaration } from '../routes/declaration.ts'
import { authContextOf } from './context.ts'
import { requestedTenant } from './decide.ts'

declare module 'fastify' {
  // The declarations merge only if the parameters are Fastify's own, all of them. `Schema` has a
  // name of its own here, because plugins declare a FastifySchema in this module too.
  interface FastifyRequest<
    RouteGeneric extends RouteGenericInterface = RouteGenericInterface,
    RawServer extends RawServerBase = RawServerDefault,
    RawRequest extends
      RawRequestDefaultExpression<RawServer> = RawRequestDefaultExpression<RawServer>,
    SchemaCompiler extends Schema = Schema,
    TypeProvider extends FastifyTypeProvider = FastifyTypeProviderDefault,
    ContextConfig = ContextConfigDefault,
    Logger extends FastifyBaseLogger = FastifyBaseLogger,
    RequestType extends FastifyRequestType = ResolveFastifyRequestType<
      TypeProvider,
      SchemaCompiler,
      RouteGeneric
    >,
  > {
    /**
     * The request's tenant, if the route declares `tenant`; null if the request belongs to no
     * tenant.
     */
    readonly tenant: RequestTenant<ContextConfig>
    /** The user that the request acts as, if the route declares `userInfo`; null: a guest. */
    readonly userInfo: Declares<ContextConfig, 'userInfo', OrGuest<ContextConfig, UserInfo>>
    /** The user's resources in the request's tenant, if the route declares `resources`. */
    readonly resources: Declares<ContextConfig, 'resources', ReadonlySet<string>>
    /** All of it, if the route declares `authorization`; null: a guest. */
    readonly authorization: Declares<
      ContextConfig,
      'authorization',
      OrGuest<ContextConfig, Authorization>
    >
  }
}

// Below, keys are asked for as `Key & keyof Config`. If they are asked for as `Key extends keyof
// Config`, TypeScript 5.9 takes Config for invariant. Then a declared request does not fit a
// parameter of type FastifyRequest.

/**
 * The type of `request.tenant` under a route's `config`. If the config is not seen, it is the union
 * of all that may be there.
 */
export type RequestTenant<Config> = Config extends { tenant: infer Value }
  ? TenantOf<Value>
  : IfDeclarable<Config, 'tenant', string | null | undefined>

type TenantOf<Value> = Value extends 'required'
  ? string
  : Value extends true | 'optional'
    ? string | null
    : Value extends false | undefined
      ? undefined
      : string | null | undefined

/** The type of a request's property that a route's `config` declares with `true`. */
export type Declares<Config, Key extends string, Type> = Config extends { [K in Key]: infer Value }
  ? Value extends true
    ? Type
    : Value extends false | undefined
      ? undefined
      : Type | undefined
  : IfDeclarable<Config, Key, Type | undefined>

/** Null only if the config declares guests, or is not seen. */
export type OrGuest<Config, Type> = Config extends object
  ? ['guests' & keyof Config] extends [never]
    ? Type
    : Config extends { guests?: infer Value }
      ? Value extends false | undefined
        ? Type
        : Type | null
      : Type | null
  : Type | null

/** Undefined only if the config is seen and cannot have the key. */
type IfDeclarable<Config, Key extends string, Type> = Config extends object
  ? [Key & keyof Config] extends [never]
    ? undefined
    : Type
  : Type

/**
 * The authorization of any guarded request, for hooks and other plugins. The route need not declare
 * it. Null if the request is not guarded, or not yet let through.
 */
export function authorizationOf<
  RouteGeneric extends RouteGenericInterface,
  RawServer extends RawServerBase,
  RawRequest extends RawRequestDefaultExpression<RawServer>,
>(request: FastifyRequest<RouteGeneric, RawServer, RawRequest>): Authorization | null
export function authorizationOf(request: FastifyRequest): Authorization | null {
  return authContextOf(request)?.authorization ?? null
}

/** A request that the guard refused: what is wrong, who asked, and for which tenant. */
export interface Refusal {
  readonly error: AuthError
  /** The authorization of the user without a tenant; null if the request was not authenticated. */
  readonly authorization: Authorization | null
  /** The valid name that was asked for. Such a tenant need not exist. */
  readonly tenant: string | null
}

/**
 * The refusal of a request that the guard refused, for audits; read it in `onError`, `onSend` or
 * `onResponse`. Null for any other request, also if a handler called `require()` and that refused.
 */
export function refusalOf<
  RouteGeneric extends RouteGenericInterface,
  RawServer extends RawServerBase,
  RawRequest extends RawRequestDefaultExpression<RawServer>,
>(request: FastifyRequest<RouteGeneric, RawServer, RawRequest>): Refusal | null
export function refusalOf(request: FastifyRequest): Refusal | null {
  const context = authContextOf(request)
  if (!context?.error) return null
  return Object.freeze({
    error: context.error,
    authorization: context.principal?.in(null) ?? null,
    tenant: requestedTenant(context),
  })
}

/**
 * A request of a route that declares this in its `config`, for a handler in another file. The route
 * may declare more.
 * @typeParam Declaration what the route declares, or `typeof` a constant that its `config` is
 * @typeParam RouteGeneric its `Body`, `Querystring`, `Params` and `Headers`, as Fastify's
 * `app.get<…>` takes them
 * @typeParam RawServer the server of its application: `Http2Server` for `Fastify({ http2: true })`
 * @example
 * const menu = async (request: GuardedRequest<{ tenant: 'required' }>) => menuOf(request.tenant)
 */
export type GuardedRequest<
  Declaration extends RouteDeclaration,
  RouteGeneric extends RouteGenericInterface = RouteGenericInterface,
  RawServer extends RawServerBase = RawServerDefault,
> = FastifyRequest<
  RouteGeneric,
  RawServer,
  RawRequestDefaultExpression<RawServer>,
  Schema,
  FastifyTypeProviderDefault,
  // A handler that does not know of guests does not fit a route that has some.
  'guests' extends keyof Declaration ? Declaration : Declaration & { guests?: false | undefined }
>
