import type { IssuerEntry } from '../authentication/issuer-entry.ts'
import type { InstalledGuard } from '../guard/scopes.ts'
import { listRoutes } from '../inspection/listed-routes.ts'
import { readIssuerRules } from '../settings/issuer-entries.ts'
import type { LoadedSettings } from '../settings/load-settings.ts'
import type { ProbeOptions } from './probe-options.ts'
import type { TestAuthority } from './test-authority.ts'

/** A guard whose routes can be asked with the tokens of one authority. */
export interface ProbedGuard extends InstalledGuard {
  /** The rules for the authority's tokens. */
  readonly issuer: IssuerEntry
  /** Tenants to ask for, which the authority may speak for. Undefined: any that fits the path. */
  readonly tenants: readonly string[] | undefined
  /** The tenant that is not asked for. Undefined: any. */
  readonly foreign: string | undefined
}

/** @throws Error that says why a probe of this guard would tell nothing */
export async function probedGuard(
  guard: InstalledGuard,
  authority: TestAuthority,
  options: ProbeOptions,
): Promise<ProbedGuard> {
  const why = whyNot(guard, options)
  if (why !== undefined) throw new Error(`probe: ${why}`)
  const issuer = await entryOf(guard.loaded, authority)
  if (issuer === undefined) {
    throw new Error(`probe: the application trusts no issuer ${authority.issuer} and audience`)
  }
  const { tenant, foreign } = options
  if (tenant !== undefined && issuer.tenants !== '*' && !issuer.tenants.includes(tenant)) {
    throw new Error(`probe: ${authority.issuer} may not speak for the tenant ${tenant}`)
  }
  const tenants = tenant === undefined ? issuer.tenants : [tenant]
  return { ...guard, issuer, tenants: tenants === '*' ? undefined : tenants, foreign }
}

function whyNot({ loaded, register }: InstalledGuard, options: ProbeOptions): string | undefined {
  const { devMode, resourcesOf, opaqueToken, tenants, resolveTenant } = loaded.settings
  if (devMode) return 'in dev mode every request is of the mock user, so no token is looked at'
  if (resourcesOf !== undefined && options.grant === undefined) {
    return 'with resourcesOf the application says what a user holds: probe(app, authority, { grant })'
  }
  if (opaqueToken !== undefined && options.grant === undefined) {
    return 'with opaqueToken the application knows its users: probe(app, authority, { grant })'
  }
  if (options.foreign !== undefined && options.foreign === options.tenant) {
    return 'foreign is another tenant than the one which is asked for, and must not be the same'
  }
  if (tenants !== undefined && options.tenant === undefined) {
    return 'with tenants it needs one that exists: probe(app, authority, { tenant })'
  }
  const isInQuery = listRoutes(register).some(({ tenant }) => tenant !== null && tenant !== 'path')
  if (resolveTenant !== undefined && isInQuery && options.headers === undefined) {
    return 'with resolveTenant it needs what that reads: probe(app, authority, { headers })'
  }
  return undefined
}

async function entryOf(
  { issuers, settings }: LoadedSettings,
  { issuer, audience }: TestAuthority,
): Promise<IssuerEntry | undefined> {
  const entries =
    typeof issuers === 'function'
      ? [readIssuerRules(issuer, await issuers(issuer), settings) ?? undefined]
      : issuers
  return entries.find(
    (entry) => entry && isAmong(issuer, entry.issuer) && isAmong(audience, entry.audience),
  )
}

/** Not configured: not checked. */
function isAmong(name: string, accepted: readonly string[] | undefined): boolean {
  return accepted?.includes(name) ?? true
}
