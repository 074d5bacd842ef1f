import * as Type from '@sinclair/typebox'
import { readIssuerRules } from '../../config/issuer-config.ts'
import type { LoadedSettings } from '../../config/load-settings.ts'
import type { InstalledGuard } from '../../guard/scopes.ts'
import type { IssuerEntry } from '../../identity/authentication/issuer.ts'
import type { ResourcesOf } from '../../identity/authorization/resources.ts'
import { type ListedPlace, listRoutes } from '../../routes/route-list.ts'
import type { TestAuthority, TestUserInfo } from './test-authority.ts'

export type Persona =
  | 'stranger'
  | 'expired'
  | 'foreigner'
  | 'without'
  | 'suspended'
  | 'unproved'
  | 'stale'

export interface PersonaUser {
  readonly sub: string
  readonly resources: Readonly<Record<string, readonly string[]>>
}

/** A user to add to the data of an application. */
export interface GrantedUser extends PersonaUser {
  /** The `iss` of its token. */
  readonly issuer: string
  /** The `cnf` of its token (RFC 9449 §6.1), if it has to be bound to the key of the probe. */
  readonly cnf?: { readonly jkt: string }
}

const anything = Type.Optional(Type.Unknown())

/** A probe says itself what is wrong with a value. */
export const PROBE_OPTIONS: Record<keyof ProbeOptions, typeof anything> = {
  tenant: anything,
  headers: anything,
  body: anything,
  claims: anything,
  grant: anything,
  foreign: anything,
  suspended: anything,
  params: anything,
}

export interface ProbeOptions {
  /**
   * A tenant that exists, and that the authority may speak for. Required if `tenants` is
   * configured.
   * @default a name that fits the path
   */
  readonly tenant?: string
  /**
   * Further headers of each request, such as the one that `resolveTenant` or a constraint of routes
   * reads. Required if `resolveTenant` is configured, and a route is not `late`.
   *
   * @param tenant the tenant that the request is for
   * @param route the route, one of `routes()`
   */
  readonly headers?: (tenant: string, route: ListedPlace) => Readonly<Record<string, string>>
  /**
   * The body of each request to a route that is `late`, such as the one that `resolveTenant` reads.
   * Without it a late route whose schema validates the body is asked by the stranger and with the
   * expired token only, as one is that validates its query, headers or parameters.
   *
   * @param tenant the tenant that the request is for
   */
  readonly body?: (tenant: string) => object
  /**
   * The claims that the authorization server would give this user. Required if `mapClaims` reads
   * others than `sub` and `resources`.
   */
  readonly claims?: (user: PersonaUser) => TestUserInfo
  /**
   * Writes the rights of a user where the application looks for them, such as a table of a test's
   * database. Required if `resourcesOf` or `opaqueToken` is configured. No user comes twice.
   *
   * @returns the token to send, if it is not one of the authority; otherwise nothing. One that is
   * sent says nothing of a login (`acr`, `auth_time`), and has the `cnf` of the user, if any.
   */
  readonly grant?: (user: GrantedUser) => unknown
  /**
   * Another tenant than that of the requests. Users hold there what does not count. Give one that
   * exists if `grant` writes into a database that must know it.
   *
   * @default 'elsewhere'
   */
  readonly foreign?: string
  /**
   * A tenant that is suspended. Its members are refused by each route that does not serve it. With
   * `suspendedTenants: 'read'` no GET is tried, so that no WebSocket is.
   *
   * @default none: no member of one is tried
   */
  readonly suspended?: string
  /**
   * Values of path parameters by their names, for those that cannot be filled from the schema of
   * the route. That of a wildcard is called `*`.
   */
  readonly params?: Readonly<Record<string, string>>
}

/** A guard whose routes can be requested with the tokens of one authority. */
export interface ProbeTarget extends InstalledGuard {
  readonly issuer: IssuerEntry
  /** Tenants that the authority may speak for. Undefined: any that fits the path. */
  readonly tenants: readonly string[] | undefined
  readonly foreign: string | undefined
}

/** @throws Error that says why a probe of this guard would find nothing */
export async function probeTarget(
  guard: InstalledGuard,
  authority: TestAuthority,
  options: ProbeOptions,
): Promise<ProbeTarget> {
  const problem = problemOf(guard, options)
  if (problem !== undefined) throw new Error(`probe: ${problem}`)
  const issuer = await entryOf(guard.loaded, authority)
  if (issuer === undefined) {
    const { issuer: name, audience } = authority
    const place =
      guard.scope.prefix === '' ? 'the application' : `the guard of ${guard.scope.prefix}`
    throw new Error(
      `probe: ${place} does not trust the issuer ${name} with the audience ${audience}; of several guards, each is probed by its scope: probe(scope, authority)`,
    )
  }
  const { tenant, foreign } = options
  if (resourcesOfIssuer(issuer, guard.loaded) !== undefined && options.grant === undefined) {
    throw new Error(
      'probe: with resourcesOf the application says what a user holds: probe(app, authority, { grant })',
    )
  }
  if (tenant !== undefined && issuer.tenants !== '*' && !issuer.tenants.includes(tenant)) {
    throw new Error(`probe: ${authority.issuer} may not speak for the tenant ${tenant}`)
  }
  const tenants = tenant === undefined ? issuer.tenants : [tenant]
  return { ...guard, issuer, tenants: tenants === '*' ? undefined : tenants, foreign }
}

function problemOf(
  { loaded, registry }: InstalledGuard,
  options: ProbeOptions,
): string | undefined {
  const { devMode, opaqueToken, tenants, resolveTenant } = loaded.settings
  if (devMode) return 'in dev mode every request is of the mock user, so no token is looked at'
  if (opaqueToken !== undefined && options.grant === undefined) {
    return 'with opaqueToken the application knows its users: probe(app, authority, { grant })'
  }
  if (options.foreign !== undefined && options.foreign === options.tenant) {
    return 'foreign is another tenant than the one which is asked for, and must not be the same'
  }
  if (tenants !== undefined && options.tenant === undefined) {
    return 'with tenants it needs one that exists: probe(app, authority, { tenant })'
  }
  const isInQuery = listRoutes(registry).some(
    ({ tenant, noauth, late }) => tenant !== null && tenant !== 'path' && !noauth && !late,
  )
  if (resolveTenant !== undefined && isInQuery && options.headers === undefined) {
    return 'with resolveTenant it needs what that reads: probe(app, authority, { headers })'
  }
  return undefined
}

/** The function that says what the users of an issuer hold; undefined: their tokens do. */
export function resourcesOfIssuer(
  { resourcesOf }: IssuerEntry,
  { settings }: LoadedSettings,
): ResourcesOf | undefined {
  return resourcesOf === 'claims' ? undefined : (resourcesOf ?? settings.resourcesOf)
}

async function entryOf(
  { issuers, settings, addresses }: LoadedSettings,
  { issuer, audience }: TestAuthority,
): Promise<IssuerEntry | undefined> {
  const entries =
    typeof issuers === 'function'
      ? [readIssuerRules(issuer, await issuers(issuer), settings, addresses) ?? undefined]
      : issuers
  return entries.find(
    (entry) => entry && isAmong(issuer, entry.issuer) && isAmong(audience, entry.audience),
  )
}

/** Not configured: not checked. */
function isAmong(name: string, accepted: readonly string[] | undefined): boolean {
  return accepted?.includes(name) ?? true
}
