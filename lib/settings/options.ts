import { type Static, Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { supportedAlgorithms } from '../keys/algorithms.ts'
import type { TokenInfo } from '../tokens/token-info.ts'
import type { UserInfo } from '../tokens/user-info.ts'
import {
  Callable,
  HTTP_URL,
  List,
  RESOURCE_ID,
  Seconds,
  Size,
  Switch,
  TENANT_NAME,
  Text,
  TextOrList,
} from './option-kinds.ts'

/**
 * Every option: its type, its default, and what a value must be. The INI keys are the snake_case of
 * the names, where an INI file can say it at all.
 */
export const Options = Type.Object({
  /**
   * Address of the authorization server's JWK set (`jwks_uri`, RFC 8414 §2); http or https.
   * Not used in dev mode, nor where `publicKeys` is given.
   * @default 'http://localhost:8081/openidconnect/public_keys'
   */
  publicKeysUrl: Text('an http or https URL without credentials', {
    format: HTTP_URL,
    default: 'http://localhost:8081/openidconnect/public_keys',
  }),

  /**
   * Whether routes that declare a tenant and have no tenant segment take it from `?tenant=`.
   * @default true
   */
  multitenancy: Switch(true),

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
   * Accepted `iss` claims, compared exactly (RFC 7519 §4.1.1). Not given: not checked, with a
   * warning at boot.
   */
  issuer: Type.Optional(TextOrList('a string or a list of strings')),

  /**
   * Accepted `aud` claims, one of which the token must name (RFC 7519 §4.1.3, RFC 9068 §4). Not
   * given: not checked, with a warning at boot.
   */
  audience: Type.Optional(TextOrList('a string or a list of strings')),

  /**
   * Accepted `alg` headers (RFC 8725 §3.1).
   * @default every asymmetric JWS algorithm that we support on this Node
   */
  algorithms: Type.Unsafe<readonly string[]>(
    Type.Array(Type.Union(supportedAlgorithms.map((name) => Type.Literal(name))), {
      minItems: 1,
      default: [...supportedAlgorithms],
      expected: `a list of ${supportedAlgorithms.join(', ')}`,
    }),
  ),

  /**
   * Accepted `typ` headers, compared as media types (RFC 7515 §4.1.9, RFC 8725 §3.11). Where the
   * list is given, a token without `typ` is refused.
   * @default JWT, at+jwt, and no `typ`
   */
  tokenTypes: Type.Optional(
    Type.Unsafe<readonly string[]>(
      Type.Array(Type.String({ pattern: '^[!-~]+$' }), {
        minItems: 1,
        expected: 'a list of token types such as at+jwt',
      }),
    ),
  ),

  /**
   * What becomes of a token that is bound to its sender (a `cnf` claim with members, RFC 7800),
   * which is no bearer token. `ignore` is for tokens whose binding a gateway in front has checked;
   * a warning at boot.
   * @default 'refuse'
   */
  confirmation: Type.Union([Type.Literal('refuse'), Type.Literal('ignore')], {
    default: 'refuse',
    expected: 'refuse or ignore',
  }),

  /** Tolerance for `exp`, `nbf` and `iat`, in seconds from 0 (RFC 7519 §4.1.4). @default 5 */
  clockTolerance: Seconds(5),

  /** Longest token, in characters; its header at most 2048 of them. @default 16384 */
  maxTokenLength: Size(16_384),

  /** The realm of the challenges (RFC 9110 §11.5); printable ASCII. @default 'api' */
  realm: Text('printable ASCII', { pattern: '^[ -~]+$', default: 'api' }),

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
   * Limit of one call of `tenants`, `isRevoked` or `resolveTenant`, in seconds from 0.
   * @default 5
   */
  tenantsTimeout: Seconds(5),

  /**
   * How long a list of an URL is fresh, and a function's `true` is kept, in seconds from 0.
   * @default 60
   */
  tenantsMaxAge: Seconds(60),

  /** Limit of one fetch of the key set, body included, in seconds from 0. @default 5 */
  keysTimeout: Seconds(5),

  /**
   * How long a key set is fresh, in seconds from 0. A new one is fetched in the background before
   * that.
   * @default 600
   */
  keysMaxAge: Seconds(600),

  /**
   * How long beyond `keysMaxAge` a key set still serves while no newer one can be had, in seconds
   * from 0.
   * @default 3600
   */
  keysMaxStale: Seconds(3600),

  /**
   * Least time between two fetches that unknown keys cause, in seconds from 0; also the longest
   * wait between retries.
   * @default 30
   */
  keysCooldown: Seconds(30),

  /**
   * Wait before a failed fetch is tried again, in seconds from 0; doubles with each failure up to
   * `keysCooldown`.
   * @default 1
   */
  keysRetry: Seconds(1),

  /**
   * Verified tokens that are kept, with at most 2 KiB of text and 8 KiB of memory for each on
   * average; 0: none.
   * @default 10000
   */
  tokenCacheSize: Size(10_000),

  /** What to do at boot about routes that no guard covers. @default 'warn' */
  uncovered: Type.Union([Type.Literal('warn'), Type.Literal('refuse'), Type.Literal('ignore')], {
    default: 'warn',
    expected: 'warn, refuse or ignore',
  }),

  /** The authorization server's JWK set itself (RFC 7517 §5). Wins over any URL. */
  publicKeys: Type.Optional(
    Type.Unsafe<{ readonly keys: readonly object[] }>(
      Type.Object(
        { keys: Type.Array(Type.Unknown()) },
        { expected: 'a JWK set with at least one public key that may verify' },
      ),
    ),
  ),

  /**
   * Turns the verified claims of another server into user info; run once for each token. The token
   * is refused where it throws, or where its result is no user info.
   */
  mapClaims: Type.Optional(Callable<(claims: Record<string, unknown>) => UserInfo>()),

  /**
   * Asked on every request, cached token or not, but in dev mode. `true`: 401
   * ERR_AUTH_TOKEN_INVALID; late, thrown or no boolean: 503 ERR_AUTH_REVOCATION_UNAVAILABLE.
   * `token` is what the token itself says, whatever `mapClaims` made of it.
   */
  isRevoked: Type.Optional(
    Callable<(userInfo: UserInfo, token: TokenInfo) => boolean | Promise<boolean>>(),
  ),

  /**
   * Gives the tenant in place of the query, where the query would be read. `null`: absent; any
   * other value that is no string: 400; thrown or late: 503.
   */
  resolveTenant: Type.Optional(
    Callable<(request: FastifyRequest) => string | null | Promise<string | null>>(),
  ),

  /**
   * Another place for the token, asked only where there is no Authorization header. A cookie brings
   * CSRF with it.
   */
  tokenFrom: Type.Optional(Callable<(request: FastifyRequest) => string | null>()),
})

/** Everything configured, with the defaults filled in. */
export type Settings = Readonly<Static<typeof Options>>

/** Names of the options. */
export type OptionName = keyof Settings

/**
 * What the plugin and `AuthService` take. An option that is `undefined` stops the boot: it may be
 * an environment variable that is missing.
 */
export interface AuthOptions extends Partial<Settings> {
  /**
   * INI file whose `[auth]` and `[tenants]` sections give options too; an option given in code
   * wins.
   */
  readonly configFile?: string
}
