import type { Identity } from './identities.ts'
import type { Ask, Circumstances, Verdict } from './oracle.ts'
import { ROUTES } from './routes.ts'
import { SUPERUSER } from './settings.ts'
import type { Resources } from './token.ts'
import { NO_ANSWER } from './told-history.ts'

/** What a handler receives, as the applications tell it. */
export interface Received {
  readonly tenant: string | null
  readonly sub: string
  readonly issuer: string
  /** Sorted. */
  readonly resources: readonly string[]
}

/** The verdict of a handler that has run. */
export function admitted({ tenant, sub, issuer, resources }: Received): Verdict {
  return `200 ${JSON.stringify({ tenant, sub, issuer, resources })}`
}

/** The verdicts on a user with these rights: of the tenant, its existence, and the requirement. */
export function permittedIn(
  ask: Ask,
  { claims, tenants }: Identity,
  told: Resources,
  { process, window, patience }: Circumstances,
): Verdict[] {
  const resources = pinned(told, tenants)
  const everywhere = resources['*'] ?? []
  const isSuperuser = everywhere.includes(SUPERUSER)
  const named = tenantOf(ask)
  if (typeof named === 'number') {
    return [`400 ${named === 0 ? 'ERR_AUTH_TENANT_MISSING' : 'ERR_AUTH_TENANT_INVALID'}`]
  }
  const { tenant } = named
  const mayAct = tenant === null || isSuperuser || Object.hasOwn(resources, tenant)
  if (!mayAct) return ['403 ERR_AUTH_TENANT_FORBIDDEN']
  const existence = tenant === null ? [true] : process.tenants.during(tenant, window, patience)
  return existence.map((exists) => {
    if (exists === NO_ANSWER) return '503 ERR_AUTH_TENANTS_UNAVAILABLE'
    if (!exists) return '404 ERR_AUTH_TENANT_UNKNOWN'
    const here = tenant === null ? [] : (resources[tenant] ?? [])
    const held = [...new Set([...everywhere, ...here])].sort()
    if (!isSuperuser && !isMet(ask, held)) return '403 ERR_AUTH_RESOURCE_MISSING'
    return admitted({ tenant, sub: claims.sub, issuer: claims.iss, resources: held })
  })
}

/** DESIGN.md, section 10. */
function pinned(resources: Resources, tenants: Identity['tenants']): Resources {
  if (tenants === '*') return resources
  const { '*': everywhere = [], ...others } = resources
  const served = Object.entries(others).filter(([tenant]) => tenants.includes(tenant))
  return Object.fromEntries(served.map(([tenant, ids]) => [tenant, [...ids, ...everywhere]]))
}

/** How many tenants are named, where that is not one good name or none that is needed. */
function tenantOf({ route, tenants }: Ask): { readonly tenant: string | null } | number {
  const declared = ROUTES[route]
  const isInPath = route.includes(':tenant')
  const place = 'tenant' in declared ? declared.tenant : undefined
  if (!isInPath && place === undefined) return { tenant: null }
  const [name] = tenants
  if (name === undefined) return place === 'optional' ? { tenant: null } : 0
  return tenants.length === 1 && isName(name) ? { tenant: name } : 1
}

function isName(name: string): boolean {
  const hasControl = [...name].some(
    (letter) => letter < ' ' || (letter >= '\x7f' && letter <= '\x9f'),
  )
  return name !== '' && name !== '*' && name.length <= 255 && !hasControl
}

function isMet({ route }: Ask, held: readonly string[]): boolean {
  const declared = ROUTES[route]
  if (!('require' in declared)) return true
  const { require } = declared
  if (typeof require === 'object' && 'any' in require) {
    return require.any.some((id) => held.includes(id))
  }
  const all = typeof require === 'string' ? [require] : require
  return all.every((id) => held.includes(id))
}
