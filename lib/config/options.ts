import type { Static, TObject } from '@sinclair/typebox'
import * as Type from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import type { OpaqueToken } from '../identity/authentication/opaque-answer.ts'
import type { Implies } from '../identity/authorization/implied-ids.ts'
import type { Check } from '../identity/authorization/requirement.ts'
import { isResourceId, type ResourcesOf } from '../identity/authorization/resources.ts'
import { supportedAlgorithms } from '../identity/jwks/algorithms.ts'
import type { ConfirmationRule } from '../identity/jwt/confirmation.ts'
import type { TokenInfo } from '../identity/jwt/token-info.ts'
import type { UserInfo } from '../identity/jwt/user-info.ts'
import type { ProofSeen } from '../identity/proofs/possession.ts'
import type { ClientCertificate } from '../identity/proofs/sender-proofs.ts'
import type { TenantState } from '../identity/tenants/known-tenants.ts'
import type { ResolveTenant } from '../identity/tenants/resolve-tenant.ts'
import { isPlainObject } from '../platform/runtime/own-property.ts'
import { IssuersOption } from './issuer-schema.ts'
import {
  Algorithms,
  Callable,
  CodeSwitch,
  Custom,
  hintForSecretText,
  isHttpUrl,
  KeysUrl,
  List,
  ListOf,
  MapClaims,
  Names,
  OneOf,
  PublicKeys,
  ResourceAddress,
  Seconds,
  Size,
  Switch,
  TenantLists,
  TenantName,
  Text,
  TextThat,
  TokenTypes,
  wrongTenants,
} from './option-types.ts'
import { showName } from './redact.ts'

/** The rule for the option `implies`, in the words of a boot error. */
export const IMPLIES_EXPECTED =
  'an object of resource ids without *, each with a list of the ids that it implies'

/** The accepted issuers and tokens. */
const tokenOptions = {
  /**
   * Address of the authorization server's JWK set (`jwks_uri`, RFC 8414 §2); http or https. Not
   * used in dev mode, nor if `publicKeys` is given. Not given: one `issuer` is discovered
   * (OpenID Connect Discovery §4), and several in `issuer` stop the boot.
   * @default 'http://localhost:8081/openidconnect/public_keys' if no issuer is given
   */
  publicKeysUrl: KeysUrl({ default: 'http://localhost:8081/openidconnect/public_keys' }),

  /**
   * The authorization server's JWK set itself (RFC 7517 §5). Wins over any URL. `{ keys: [] }`,
   * beside `opaqueToken` only: no JWT counts, and nothing is fetched.
   */
  publicKeys: Type.Optional(PublicKeys),

  /**
   * Accepted `iss` claims, compared exactly (RFC 7519 §4.1.1). Several share one key set. Not
   * given: not checked, with a warning at boot.
   */
  issuer: Type.Optional(Names),

  /**
   * Accepted `aud` claims, one of which the token must name (RFC 7519 §4.1.3, RFC 9068 §4). Not
   * given: not checked, with a warning at boot. Where `resource` is an address for each tenant, it
   * counts on routes without a tenant only, which nobody passes if it is not given.
   */
  audience: Type.Optional(Names),

  /**
   * Several issuers, each with its own keys, and with the tenants that it may speak for: a list, or
   * a function that returns the rules for a token's `iss`, and null for an unknown one. In the INI
   * file a section `[auth.NAME]` for each. Excludes `issuer`, `publicKeysUrl` and
   * `publicKeys`. Not used in dev mode. A function that is late or throws, and an answer that
   * cannot be used: 503 ERR_AUTH_ISSUERS_UNAVAILABLE.
   */
  issuers: Type.Optional(IssuersOption),

  /**
   * Time that an answer of a function in `issuers` is cached, in seconds from 0. While the function
   * fails, the last good answer serves `keysMaxStale` longer.
   * @default 300
   */
  issuersMaxAge: Seconds(300),

  /**
   * Most issuers of a function in `issuers` that are cached, from 1 to 100 000. One that has proved
   * no token displaces none that has. Given beside a function only.
   * @default 1000
   */
  issuersMax: Size(1000, 1, 100_000),

  /**
   * Whether addresses that a function in `issuers` returns, and those discovered from them, may
   * lead to hosts that are not public, such as loopback or 10.0.0.0/8 (RFC 6890). They are https,
   * or http on loopback, in any case, and no proxy is used.
   * @default false
   */
  allowPrivateIssuers: CodeSwitch(false),

  /** Limit of one fetch of the key set, body included, in seconds from 0. @default 5 */
  keysTimeout: Seconds(5),

  /**
   * Time that a key set is fresh, in seconds from 0. A new one is fetched in the background before
   * its end.
   * @default 600
   */
  keysMaxAge: Seconds(600),

  /**
   * Time beyond `keysMaxAge` that a key set still serves while no newer one can be had, in seconds
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
   * Accepted `alg` headers (RFC 8725 §3.1).
   * @default every asymmetric JWS algorithm that we support on this Node
   */
  algorithms: Algorithms({ default: [...supportedAlgorithms] }),

  /**
   * Accepted `typ` headers, compared as media types (RFC 7515 §4.1.9, RFC 8725 §3.11). If the list
   * is given, a token without `typ` is refused.
   * @default JWT, at+jwt, and no `typ`
   */
  tokenTypes: Type.Optional(TokenTypes),

  /**
   * Treatment of a token that is bound to its sender (a `cnf` claim with members, RFC 7800), which
   * is no bearer token. `check`: its sender has to prove that it holds the key (DPoP, RFC 9449) or
   * the certificate (RFC 8705 §3), or both; an unbound token is a bearer token. `require`: an
   * unbound token is 401, too. `ignore` is for tokens whose binding a gateway in front has
   * checked; a warning at boot.
   * @default 'refuse'
   */
  confirmation: OneOf<ConfirmationRule>(['refuse', 'ignore', 'check', 'require'], 'refuse'),

  /**
   * The address that clients know the API by: what stands before the path of a request. A DPoP
   * proof names it in `htu` (RFC 9449 §4.2). Spelt as `resource`. Needed with `confirmation`
   * `check` or `require`.
   * @default the origin of `resource`
   */
  publicUrl: Type.Optional(ResourceAddress),

  /**
   * Time that a DPoP proof counts before its `iat` and after (RFC 9449 §11.1), in seconds from 5 to
   * 600. `clockTolerance` does not count.
   * @default 300
   */
  proofMaxAge: Seconds(300, 5, 600),

  /**
   * Notes that a DPoP proof has been seen, and returns whether it is the first time (RFC 9449
   * §11.1). `key` is made of the thumbprint of the proof's key and its `jti`, 87 characters; it
   * must not be forgotten before `until`. Late, thrown or no boolean: 503
   * ERR_AUTH_PROOFS_UNAVAILABLE. Several processes need one table, such as `redisProofs`. Not
   * given: a table of this process, with a warning at boot.
   */
  proofSeen: Type.Optional(Callable<ProofSeen>()),

  /**
   * Returns the certificate that the client of a request has shown, as DER or PEM; null: none.
   * Called for tokens with `x5t#S256` (RFC 8705 §3.1) only. Thrown, a promise, or no certificate:
   * 503 ERR_AUTH_PROOFS_UNAVAILABLE. Not given: that of the TLS connection.
   */
  clientCertificate: Type.Optional(Callable<ClientCertificate>()),

  /** Tolerance for `exp`, `nbf` and `iat`, in seconds from 0 (RFC 7519 §4.1.4). @default 5 */
  clockTolerance: Seconds(5),

  /** Longest token, in characters; its header at most 2048 of them. @default 16384 */
  maxTokenLength: Size(16_384),

  /**
   * Another place for the token, read only without an Authorization header. A cookie brings CSRF
   * with it.
   */
  tokenFrom: Type.Optional(Callable<(request: FastifyRequest) => string | null>()),

  /**
   * Resolves a token that is no JWT, such as an API key, or one to be introspected (RFC 7662). An
   * object: its claims, checked as those of a JWT are; a string: a JWT in its place; null: 401
   * ERR_AUTH_TOKEN_INVALID. Late, thrown, or any other answer: 503
   * ERR_AUTH_INTROSPECTION_UNAVAILABLE. Not given: a token that is no JWT is refused.
   */
  opaqueToken: Type.Optional(Callable<OpaqueToken>({ isSecret: true, hint: hintForSecretText })),

  /**
   * Time that an answer of `opaqueToken` is cached, in seconds from 0; never beyond its `exp`.
   * @default 30
   */
  opaqueMaxAge: Seconds(30),

  /**
   * Turns the verified claims of another server into user info; run once for each token. If it
   * throws, or its result is no user info, the token is refused.
   */
  mapClaims: Type.Optional(MapClaims),

  /**
   * Called on every request, cached token or not, except in dev mode. `true`: 401
   * ERR_AUTH_TOKEN_INVALID; late, thrown or no boolean: 503 ERR_AUTH_REVOCATION_UNAVAILABLE.
   * `token` holds what the token itself says, whatever `mapClaims` made of it.
   */
  isRevoked: Type.Optional(
    Callable<(userInfo: UserInfo, token: TokenInfo) => boolean | Promise<boolean>>(),
  ),

  /**
   * Number of verified tokens that are cached, with at most 2 KiB of text and 8 KiB of memory for
   * each on average; 0: none.
   * @default 10000
   */
  tokenCacheSize: Size(10_000),
}

/** The tenant of a request, and the tenants that exist. */
const tenantOptions = {
  /**
   * Whether routes that declare a tenant and have no tenant segment take it from the query.
   * @default true
   */
  multitenancy: Switch(true),

  /**
   * Name of the path parameter that is the tenant, such as `org` in `/orgs/:org/members`; letters,
   * digits and `_`.
   * @default 'tenant'
   */
  tenantParameter: Text('the name of a path parameter', { pattern: '^\\w+$', default: 'tenant' }),

  /**
   * Name of the query parameter that is the tenant, such as `projectId`; 1 to 64 of letters,
   * digits, `_`, `.` and `-`.
   * @default 'tenant'
   */
  tenantQuery: Text('the name of a query parameter, 1 to 64 of A-Za-z0-9_.-', {
    pattern: '^[\\w.-]{1,64}$',
    default: 'tenant',
  }),

  /**
   * Whether a guarded route without a tenant segment that does not declare `tenant` is guarded as
   * one that declares `true`. `tenant: false` says that a route is for none.
   * @default false
   */
  tenantDefault: Switch(false),

  /**
   * A resource id: a user who holds it under `*` passes every requirement and may act for every
   * tenant that exists. A warning at boot if `tenants` is not given.
   */
  superuserResource: Type.Optional(TextThat('a resource id <name>:<action>', isResourceId)),

  /**
   * The ids that each resource id implies, without patterns: whoever holds `menu:edit` holds what
   * it implies too, in the same tenant. `has`, `require` and a route's `require` count it;
   * `resources` stay literal. A circle stops the boot. In the INI file a section `[implies]` with
   * lists.
   */
  implies: Type.Optional(Custom(IMPLIES_EXPECTED, isImplies)),

  /**
   * The tenants that exist: a list, the URL of a JSON array of names, or a function. Not given:
   * every tenant that a user may act for is taken to exist. Some may be suspended: `{ ids,
   * suspended }` in place of a list, of which one may be empty, `{ "name": "old", "state":
   * "suspended" }` in that of a URL, or the answer `'suspended'`.
   */
  tenants: Type.Optional(
    Type.Union(
      [
        TextThat('', isHttpUrl),
        List(TenantName),
        Callable<(tenant: string) => TenantState | Promise<TenantState>>(),
        TenantLists,
      ],
      {
        expected:
          'a list of tenant names, an http or https URL, or (in code) a function or { ids, suspended }',
        hint: wrongTenants,
      },
    ),
  ),

  /**
   * Treatment of a request to a suspended tenant, on a route that does not declare `suspended`: 403
   * ERR_AUTH_TENANT_SUSPENDED. With `read`, GET and HEAD go on, but no WebSocket upgrade.
   * @default 'refuse'
   */
  suspendedTenants: OneOf(['refuse', 'read'], 'refuse'),

  /**
   * Limit of one call of `tenants`, `isRevoked`, `resolveTenant`, `resourcesOf`, `issuers`,
   * `opaqueToken`, `proofSeen`, `issuersOf` or one of `checks`, in seconds from 0.
   * @default 5
   */
  tenantsTimeout: Seconds(5),

  /**
   * Time that a list of an URL is fresh, and a function's `true` or `'suspended'` is cached, in
   * seconds from 0: a change of a tenant counts so late in other processes.
   * @default 60
   */
  tenantsMaxAge: Seconds(60),

  /**
   * Returns the rights of a user, in the place of the token's `resources`; not called in dev mode.
   * `null`: the user is not known, and has no rights, which is cached for 2 seconds. Late, thrown,
   * or of another shape: 503 ERR_AUTH_RESOURCES_UNAVAILABLE.
   */
  resourcesOf: Type.Optional(Callable<ResourcesOf>()),

  /**
   * Time that an answer of `resourcesOf` is cached, in seconds from 0: of at most 10 000 users,
   * with at most 16 KiB of memory for each on average.
   * @default 30
   */
  resourcesMaxAge: Seconds(30),

  /**
   * Returns the tenant in place of the query. `user` is who asks, null of a guest and on an open
   * route. `null`: absent; any other value that is no string: 400; thrown or late: 503.
   */
  resolveTenant: Type.Optional(Callable<ResolveTenant>()),
}

/** The names that log lines of a decided request can have. */
const LOG_BINDINGS = ['tenant', 'sub', 'issuer'] as const

export type LogBinding = (typeof LOG_BINDINGS)[number]

/** The guard in its application. */
const applicationOptions = {
  /**
   * Functions that a route's `check` names: whether a user may do what it asks for, such as with a
   * row that is its own. They run just before the handler, and on an open route with null in the
   * place of the authorization. `false`: 403 ERR_AUTH_NOT_PERMITTED; late, thrown or no boolean:
   * 503 ERR_AUTH_CHECK_UNAVAILABLE; an error of ours that it throws is the refusal.
   */
  checks: Type.Optional(Custom('an object of functions', isChecks, { hint: wrongChecks })),

  /**
   * Whether every request acts as a mock user, without tokens and without network. Refused if
   * NODE_ENV is `production`.
   * @default false
   */
  devMode: Switch(false),

  /**
   * JSON file of the mock user of dev mode. A relative path counts from the INI file's folder, or
   * from the working directory if it is given in code.
   * @default '/conf/dev-userinfo.json'
   */
  devUserInfoPath: Text('a path', { default: '/conf/dev-userinfo.json' }),

  /**
   * Whether `currentAuthorization()` returns the authorization of a request anywhere below its
   * handler, and `authService.actAs()` may be called.
   * @default false
   */
  asyncContext: Switch(false),

  /** The realm of the challenges (RFC 9110 §11.5); printable ASCII. @default 'api' */
  realm: Text('printable ASCII', { pattern: '^[ -~]+$', default: 'api' }),

  /**
   * The API's own address as its clients know it, such as `https://api.example.com/mcp`: the
   * resource identifier of RFC 9728 §1.2. https, or http on loopback; no credentials, query,
   * fragment, `%` or `*`, and no slash at its end. An issuer must be configured. If `audience`
   * is not given, it is the audience. Every challenge names the address of its metadata (RFC 9728
   * §5.1), and that of a 401 the route's `require` as `scope`. See `resourceMetadata`. One whole
   * segment may be `/:tenant/`, named as `tenantParameter`: each tenant has an address of its own,
   * and a token counts in the tenants only whose addresses it names.
   */
  resource: Type.Optional(ResourceAddress),

  /** Treatment at boot of routes that no guard covers. @default 'refuse' */
  uncovered: OneOf(['warn', 'refuse', 'ignore'], 'refuse'),

  /**
   * Treatment at boot of guarded routes that declare neither `require` nor `check` nor `guests`, so
   * that any user of their tenant may use them. `require: false` says that it is meant.
   * @default 'ignore'
   */
  undeclared: OneOf(['warn', 'refuse', 'ignore'], 'ignore'),

  /**
   * Names in each log line of a decided request: `tenant`, `sub`, `issuer`, each once. A refused
   * request has those that are known. `sub` and `issuer` are personal data.
   * @default none
   */
  logBindings: Type.Optional(
    ListOf(LOG_BINDINGS, {
      uniqueItems: true,
      expected: `a list of ${LOG_BINDINGS.join(', ')}, each once`,
    }),
  ),
}

/**
 * Every option: its type, its default, and the rule for its value. The INI keys are the snake_case
 * of the names, if an INI file can give the option.
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

function isChecks(value: unknown): value is Readonly<Record<string, Check>> {
  if (!isPlainObject(value)) return false
  return Object.entries(value).every(([name, check]) => name !== '' && typeof check === 'function')
}

/** The members of an object that are no functions; undefined: there are none. */
function wrongChecks(value: unknown): string | undefined {
  const members = isPlainObject(value) ? Object.entries(value) : []
  const wrong = members.filter(([, check]) => typeof check !== 'function')
  const names = wrong.map(([name]) => name).join(', ')
  return wrong.length === 0 ? undefined : `look at ${showName(names)}`
}

function isImplies(value: unknown): value is Implies {
  return isPlainObject(value)
}

/**
 * The options of the plugin and of `AuthService`. An option that is `undefined` stops the boot: it
 * may be an environment variable that is missing.
 */
export interface AuthOptions extends Partial<Settings> {
  /**
   * INI file whose `[auth]`, `[auth.NAME]`, `[tenants]` and `[implies]` sections give options
   * too; an option given in code wins.
   */
  readonly configFile?: string
}
