import type { Policy } from '../declaration/policy.ts'
import type { Persona, PersonaUser } from './probe-options.ts'
import type { ProbedGuard } from './probed-guard.ts'

/** One request of a probe: who asks for which tenant, and how the policy refuses it. */
export interface AskedPersona {
  readonly persona: Persona
  /** Null: a stranger, who has no token. */
  readonly resources: PersonaUser['resources'] | null
  readonly isExpired: boolean
  /** The tenant that is asked for. Null: none is named. */
  readonly tenant: string | null
  readonly status: number
  /** Of the refusal; any of them. */
  readonly codes: readonly string[]
}

const UNAUTHENTICATED = {
  status: 401,
  codes: ['ERR_AUTH_TOKEN_INVALID', 'ERR_AUTH_TOKEN_MISSING'],
}
const FORBIDDEN = { status: 403, codes: ['ERR_AUTH_TENANT_FORBIDDEN'] }
const MISSING = { status: 403, codes: ['ERR_AUTH_RESOURCE_MISSING'] }

/**
 * Who a route refuses by its policy, beside those without a good token. Each of them holds all that
 * the policy does not ask for, so that only one check can refuse it.
 *
 * @param outside a tenant that the authority may not speak for; undefined: it may for all
 */
export function refusedPersonas(
  policy: Policy,
  { tenant, outside }: { readonly tenant: string; readonly outside: string | undefined },
  guard: ProbedGuard,
): AskedPersona[] {
  const { ids, most, superuser } = requiredBy(policy, guard)
  const elsewhere = elsewhereThan(tenant, guard)
  const users: AskedPersona[] = []
  const add = (
    persona: Persona,
    resources: PersonaUser['resources'],
    how: typeof FORBIDDEN,
    at: string | null = tenant,
  ) => users.push({ persona, resources, tenant: at, isExpired: false, ...how })
  if (policy.tenant !== null) {
    add('foreigner', { '*': ids, [elsewhere]: ids }, FORBIDDEN)
    if (outside !== undefined) {
      const rights = [...ids, ...superuser]
      add('foreigner', { '*': rights, [outside]: rights, [tenant]: rights }, FORBIDDEN, outside)
    }
  }
  if (policy.requirement !== null) {
    const place = policy.tenant === null ? '*' : tenant
    add('without', { [place]: most, [elsewhere]: ids }, MISSING)
    // A resolver may name a tenant where the url names none.
    if (
      policy.tenant === 'query' &&
      policy.mayBeAbsent &&
      guard.loaded.settings.resolveTenant === undefined
    ) {
      add('without', { '*': most, [tenant]: ids, [elsewhere]: ids }, MISSING, null)
    }
    if (outside !== undefined && policy.tenant === null) {
      add('without', { '*': [...ids, ...superuser], [tenant]: ids }, MISSING)
    }
  }
  return users
}

/** Who each guarded route refuses: a stranger, and a user of all rights whose token has expired. */
export function unauthenticatedPersonas(
  policy: Policy | undefined,
  tenant: string,
  guard: ProbedGuard,
): AskedPersona[] {
  const { ids } = requiredBy(policy, guard)
  const resources = { '*': ids, [tenant]: ids }
  return [
    { persona: 'stranger', resources: null, isExpired: false, tenant, ...UNAUTHENTICATED },
    { persona: 'expired', resources, isExpired: true, tenant, ...UNAUTHENTICATED },
  ]
}

/** What a route requires, and the most that is not enough. A superuser would need nothing of it. */
function requiredBy(policy: Policy | undefined, { loaded }: ProbedGuard) {
  const { superuserResource } = loaded.settings
  const superuser = superuserResource === undefined ? [] : [superuserResource]
  const { mode, ids = [] } = policy?.requirement ?? {}
  const unique = new Set(ids)
  const plain = [...unique].filter((id) => id !== superuserResource)
  const most = plain.length < unique.size ? plain : plain.slice(0, -1)
  return { ids: plain, most: mode === 'all' ? most : [], superuser }
}

/** Another tenant, of the same authority if it has one. */
function elsewhereThan(tenant: string, { issuer, foreign }: ProbedGuard): string {
  if (foreign !== undefined && foreign !== tenant) return foreign
  const own = issuer.tenants === '*' ? [] : issuer.tenants
  const other = tenant === ELSEWHERE ? `${ELSEWHERE}-2` : ELSEWHERE
  return own.find((each) => each !== tenant) ?? other
}

const ELSEWHERE = 'elsewhere'
