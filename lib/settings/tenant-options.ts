import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import type { ResourcesOf } from '../rights/resources-of.ts'
import {
  Callable,
  HTTP_URL,
  List,
  RESOURCE_ID,
  Seconds,
  Switch,
  TENANT_NAME,
  Text,
} from './option-kinds.ts'

/** Which tenant a request is for, and which tenants exist. */
export const tenantOptions = {
  /**
   * Whether routes that declare a tenant and have no tenant segment take it from `?tenant=`.
   * @default true
   */
  multitenancy: Switch(true),

  /**
   * Name of the path parameter that is the tenant, such as `org` in `/orgs/:org/members`; letters,
   * digits and `_`. The query keeps its name, `?tenant=`.
   * @default 'tenant'
   */
  tenantParameter: Text('the name of a path parameter', { pattern: '^\\w+$', default: 'tenant' }),

  /**
   * A resource id: a user who holds it under `*` passes every requirement and may act for every
   * tenant that exists. A warning at boot where `tenants` is not given.
   */
  superuserResource: Type.Optional(Text('a resource id <name>:<action>', { format: RESOURCE_ID })),

  /**
   * Which tenants exist: a list, the URL of a JSON array of names, or a function. Not given: every
   * tenant that a user may act for is taken to exist.
   */
  tenants: Type.Optional(
    Type.Union(
      [
        Text('', { format: HTTP_URL }),
        List(Type.String({ format: TENANT_NAME })),
        Callable<(tenant: string) => boolean | Promise<boolean>>(),
      ],
      {
        expected: 'a list of tenant names, an http or https URL, or (in code) a function',
      },
    ),
  ),

  /**
   * Limit of one call of `tenants`, `isRevoked`, `resolveTenant`, `resourcesOf`, `issuers` or
   * `opaqueToken`, in seconds from 0.
   * @default 5
   */
  tenantsTimeout: Seconds(5),

  /**
   * How long a list of an URL is fresh, and a function's `true` is kept, in seconds from 0.
   * @default 60
   */
  tenantsMaxAge: Seconds(60),

  /**
   * Tells what a user may do, in the place of the token's `resources`; not asked in dev mode.
   * `null`: the user is not known, and has no rights, which is kept for 2 seconds. Late, thrown, or
   * of another shape: 503 ERR_AUTH_RESOURCES_UNAVAILABLE.
   */
  resourcesOf: Type.Optional(Callable<ResourcesOf>()),

  /**
   * How long an answer of `resourcesOf` is kept, in seconds from 0: of at most 10 000 users, with
   * at most 16 KiB of memory for each on average.
   * @default 30
   */
  resourcesMaxAge: Seconds(30),

  /**
   * Gives the tenant in place of the query, where the query would be read. `null`: absent; any
   * other value that is no string: 400; thrown or late: 503.
   */
  resolveTenant: Type.Optional(
    Callable<(request: FastifyRequest) => string | null | Promise<string | null>>(),
  ),
}
