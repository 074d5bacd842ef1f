import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { decodeJwt } from 'jose'
import { isObject, ownProperty } from '../../platform/runtime/own-property.ts'
import type { Policy } from '../../routes/policy.ts'
import type { Persona, PersonaUser, ProbedGuard, ProbeOptions } from './probe-target.ts'
import type { TestAuthority } from './test-authority.ts'

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

/** Makes the tokens of those whom a probe asks as. Many routes ask as the same user. */
export class PersonaTokens {
  readonly #authority: TestAuthority
  readonly #guard: ProbedGuard
  readonly #claims: NonNullable<ProbeOptions['claims']>
  readonly #grant: ProbeOptions['grant']
  readonly #tokens = new Map<string, Promise<string>>()

  constructor(authority: TestAuthority, guard: ProbedGuard, { claims, grant }: ProbeOptions) {
    this.#authority = authority
    this.#guard = guard
    this.#claims = claims ?? (({ sub, resources }) => ({ sub, resources }))
    this.#grant = grant
  }

  /**
   * The header with the token; none for a stranger.
   *
   * @throws Error if `mapClaims` makes another user of the token, or `resourcesOf` does not tell
   * what was granted
   */
  async headersOf({ resources, isExpired }: AskedPersona): Promise<Record<string, string>> {
    if (resources === null) return {}
    const key = JSON.stringify([isExpired, resources])
    const making = this.#tokens.get(key) ?? this.#make(resources, isExpired)
    this.#tokens.set(key, making)
    return { authorization: `Bearer ${await making}` }
  }

  async #make(resources: PersonaUser['resources'], isExpired: boolean): Promise<string> {
    const { clockTolerance, resourcesOf } = this.#guard.loaded.settings
    const expiresIn = isExpired ? -60 - clockTolerance : 300
    // What an application tells of a user is kept for a while, so that each has to be another one.
    const sub = this.#grant === undefined ? 'probe' : randomUUID()
    const token = await this.#authority.token(this.#claims({ sub, resources }), { expiresIn })
    if (resourcesOf === undefined && !isDeepStrictEqual(this.#rightsIn(token), rights(resources))) {
      throw new Error(
        'probe: mapClaims makes another user of the claims; give them: probe(app, authority, { claims })',
      )
    }
    const own = await this.#granted(token, resources)
    // A token that the application has made is good, and so it is none that has expired.
    return own === undefined || isExpired ? token : own
  }

  /** @returns the token that the application has made for the user, if it has */
  async #granted(token: string, resources: PersonaUser['resources']): Promise<string | undefined> {
    if (this.#grant === undefined) return undefined
    const { iss: issuer = '', sub = '' } = decodeJwt(token)
    const own = await this.#grant({ issuer, sub, resources })
    if (typeof own === 'string') return own
    const { resourcesOf } = this.#guard.loaded.settings
    const told: unknown = await resourcesOf?.({ issuer, sub })
    if (resourcesOf !== undefined && !tells(told, resources)) {
      throw new Error('probe: resourcesOf does not tell what grant was given')
    }
    return undefined
  }

  #rightsIn(token: string): unknown {
    const { mapClaims } = this.#guard.issuer
    const claims = decodeJwt(token)
    try {
      return rights(Object((mapClaims?.(claims) ?? claims)['resources']))
    } catch {
      return undefined
    }
  }
}

/**
 * Whether an answer of `resourcesOf` has what was granted in tenants. An application need not know
 * what is held in all of them.
 */
function tells(told: unknown, granted: PersonaUser['resources']): boolean {
  return Object.entries(granted).every(([tenant, ids]) => {
    if (tenant === '*') return true
    const held: unknown = isObject(told) ? ownProperty(told, tenant) : undefined
    return Array.isArray(held) && ids.every((id) => held.includes(id))
  })
}

/** An empty list under `*` says nothing. Under a tenant it makes a member. */
function rights(resources: object): unknown {
  const said = Object.entries(resources).filter(([tenant, ids]) => tenant !== '*' || ids.length > 0)
  return Object.fromEntries(said)
}
