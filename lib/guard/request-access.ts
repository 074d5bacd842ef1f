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
import type { Authorization } from '../rights/authorization.ts'
import type { UserInfo } from '../tokens/user-info.ts'
import { accessOf } from './decision.ts'

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
    /** The user that the request acts as, if the route declares `userInfo`. */
    readonly userInfo: Declares<ContextConfig, 'userInfo', UserInfo>
    /** What the user holds in the request's tenant, if the route declares `resources`. */
    readonly resources: Declares<ContextConfig, 'resources', ReadonlySet<string>>
    /** All of it, if the route declares `authorization`. */
    readonly authorization: Declares<ContextConfig, 'authorization', Authorization>
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
  return accessOf(request)?.authorization ?? null
}
