import { type Static, type TObject, Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { isResourceId } from '../rights/resource-id.ts'
import type { ResourcesOf } from '../rights/resources-of.ts'
import { isTenantName } from '../tenants/tenant-name.ts'
import {
  Callable,
  isHttpUrl,
  List,
  namesOf,
  Seconds,
  Switch,
  Text,
  TextThat,
} from './option-kinds.ts'
import { isResourceAddress, RESOURCE_EXPECTED } from './resource-address.ts'
import { tokenOptions } from './token-options.ts'

/** Which tenant a request is for, and which tenants exist. */
const tenantOptions = {
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
  superuserResource: Type.Optional(TextThat('a resource id <name>:<action>', isResourceId)),

  /**
   * Which tenants exist: a list, the URL of a JSON array of names, or a function. Not given: every
   * tenant that a user may act for is taken to exist.
   */
  tenants: Type.Optional(
    Type.Union(
      [
        TextThat('', isHttpUrl),
        List(TextThat('', isTenantName)),
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

/** What the log can name of a decided request. */
const LOG_BINDINGS = ['tenant', 'sub', 'issuer'] as const

export type LogBinding = (typeof LOG_BINDINGS)[number]

/** How the guard behaves in its application. */
const applicationOptions = {
  /**
   * Whether every request acts as a mock user, without tokens and without network. Refused where
   * NODE_ENV is `production`.
   * @default false
   */
  devMode: Switch(false),

  /**
   * JSON file of the mock user of dev mode. A relative path counts from the INI file's folder, or
   * from the working directory where it is given in code.
   * @default '/conf/dev-userinfo.json'
   */
  devUserInfoPath: Text('a path', { default: '/conf/dev-userinfo.json' }),

  /**
   * Whether `currentAuthorization()` tells the authorization of a request anywhere below its
   * handler, and `authService.actAs()` may be called.
   * @default false
   */
  asyncContext: Switch(false),

  /** The realm of the challenges (RFC 9110 §11.5); printable ASCII. @default 'api' */
  realm: Text('printable ASCII', { pattern: '^[ -~]+$', default: 'api' }),

  /**
   * The API's own address as its clients know it, such as `https://api.example.com/mcp`: the
   * resource identifier of RFC 9728 §1.2. https, or http on loopback; no credentials, query,
   * fragment, `%` or `*`, and no slash at its end. An issuer must be configured. Where `audience`
   * is not given, it is the audience. Every challenge names the address of its metadata (RFC 9728
   * §5.1), and that of a 401 the route's `require` as `scope`. See `resourceMetadata`.
   */
  resource: Type.Optional(TextThat(RESOURCE_EXPECTED, isResourceAddress)),

  /** What to do at boot about routes that no guard covers. @default 'refuse' */
  uncovered: Type.Union([Type.Literal('warn'), Type.Literal('refuse'), Type.Literal('ignore')], {
    default: 'refuse',
    expected: 'warn, refuse or ignore',
  }),

  /**
   * What each line of the log names of a decided request: `tenant`, `sub`, `issuer`, each once. Of
   * a refused request it is what is known. `sub` and `issuer` are personal data.
   * @default none
   */
  logBindings: Type.Optional(
    Type.Unsafe<readonly LogBinding[]>(
      Type.Array(Type.Union(LOG_BINDINGS.map((name) => Type.Literal(name))), {
        minItems: 1,
        uniqueItems: true,
        expected: `a list of ${LOG_BINDINGS.join(', ')}, each once`,
      }),
    ),
  ),
}

/**
 * Every option: its type, its default, and what a value must be. The INI keys are the snake_case of
 * the names, where an INI file can say it at all.
 */
export const Options: TObject<Groups> = Type.Object({
  ...tokenOptions,
  ...tenantOptions,
  ...applicationOptions,
})

/** Named, so that the declarations that are published keep the options' documentation. */
type Groups = typeof tokenOptions & typeof tenantOptions & typeof applicationOptions

/** Everything configured, with the defaults filled in. */
export type Settings = Readonly<Static<typeof Options>>

/** Names of the options. */
export type OptionName = keyof Settings

/** Names of all options, in the order of the schema. */
export function optionNames(): OptionName[] {
  return namesOf(Options.properties)
}

/**
 * What the plugin and `AuthService` take. An option that is `undefined` stops the boot: it may be
 * an environment variable that is missing.
 */
export interface AuthOptions extends Partial<Settings> {
  /**
   * INI file whose `[auth]`, `[auth.NAME]` and `[tenants]` sections give options too; an option
   * given in code wins.
   */
  readonly configFile?: string
}
