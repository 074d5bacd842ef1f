import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { decodeJwt } from 'jose'
import { AuthError, type StepUp } from '../../errors.ts'
import { asRefusal } from '../../guard/guard.ts'
import { ownMember } from '../../platform/runtime/own-property.ts'
import type { Policy } from '../../routes/policy.ts'
import {
  type Persona,
  type PersonaUser,
  type ProbeOptions,
  type ProbeTarget,
  resourcesOfIssuer,
} from './probe-target.ts'
import type { ProbeAddress } from './probe-url.ts'
import { createProofKey, type ProofKey } from './proof-key.ts'
import type { TestAuthority, TestTokenOptions } from './test-authority.ts'

type Resources = PersonaUser['resources']

export interface Attempt {
  readonly persona: Persona
  /** Null: a stranger, who has no token. */
  readonly resources: Resources | null
  readonly isExpired: boolean
  /** True: its token is bound to a key. All but `unproved` prove to hold it. */
  readonly isBound: boolean
  /** The login of its token: one that is enough, none for `stale`; null: what `claims` gives. */
  readonly login: StepUp | 'none' | null
  /** Null: none is named. */
  readonly tenant: string | null
  /** The tenant that its token is for, if that is another one. */
  readonly addressee?: string
  readonly status: number
  readonly codes: readonly string[]
}

const UNAUTHENTICATED = { status: 401, codes: ['ERR_AUTH_TOKEN_INVALID', 'ERR_AUTH_TOKEN_MISSING'] }
const FORBIDDEN = { status: 403, codes: ['ERR_AUTH_TENANT_FORBIDDEN'] }
const SUSPENDED = { status: 403, codes: ['ERR_AUTH_TENANT_SUSPENDED'] }
const STALE = { status: 401, codes: ['ERR_AUTH_STEP_UP_REQUIRED'] }
const MISSING = { status: 403, codes: ['ERR_AUTH_RESOURCE_MISSING'] }
const ADMITTED = { status: 204, codes: [] }

/** True: the policy admits the persona, so that the validation may refuse the request. */
export function isAdmitted({ status }: Attempt): boolean {
  return status === ADMITTED.status
}

/**
 * Attempts with a good token that the policy of a route refuses. Each persona holds all that the
 * policy does not require, so that only one check can refuse it.
 *
 * @param address.outside a tenant that the authority may not speak for; undefined: it may for all
 */
export function forbiddenAttempts(
  policy: Policy,
  { tenant, outside, suspended }: Omit<ProbeAddress, 'urlFor'>,
  target: ProbeTarget,
  method: string,
): Attempt[] {
  const { ids, most, superuser } = requirementOf(policy, target)
  const elsewhere = otherTenant(tenant, target)
  const attempts: Attempt[] = []
  const { mustBeBound: isBound, stepUp: login } = policy
  const everything = { '*': ids, [tenant]: ids }
  const add = (
    persona: Persona,
    refusal: Pick<Attempt, 'status' | 'codes'>,
    { resources = everything, ...more }: Partial<Attempt> = {},
  ) => {
    const usual = { persona, resources, tenant, isExpired: false, isBound, login }
    attempts.push({ ...usual, ...refusal, ...more })
  }
  const hasTenant = policy.tenant !== null
  if (isBound) {
    add('unproved', UNAUTHENTICATED)
    add('unproved', UNAUTHENTICATED, { isBound: false })
  }
  // No user of an issuer with tenants of its own holds a resource without a tenant.
  const canBeMet = policy.requirement === null || hasTenant || outside === undefined
  if (login !== null && canBeMet) {
    const all = policy.requirement?.ids ?? []
    add('stale', STALE, { login: 'none', resources: { '*': all, [tenant]: all } })
  }
  if (suspended !== undefined && hasTenant && !servesSuspended(policy, method, target)) {
    add('suspended', SUSPENDED, { resources: { [suspended]: ids }, tenant: suspended })
  }
  if (hasTenant) {
    const resources = { '*': ids, [elsewhere]: ids }
    add('foreigner', policy.guests ? ADMITTED : FORBIDDEN, { resources })
  }
  const rights = [...ids, ...superuser]
  if (hasTenant && !policy.guests && outside !== undefined) {
    const resources = { '*': rights, [outside]: rights, [tenant]: rights }
    add('foreigner', FORBIDDEN, { resources, tenant: outside })
  }
  const { issuer, loaded } = target
  if (policy.requirement !== null) {
    add('without', MISSING, { resources: { [hasTenant ? tenant : '*']: most, [elsewhere]: ids } })
    // A resolver may name a tenant if the url names none.
    const isResolved = loaded.settings.resolveTenant !== undefined
    if (policy.tenant === 'query' && policy.mayBeAbsent && !isResolved) {
      const resources = { '*': most, [tenant]: ids, [elsewhere]: ids }
      add('without', MISSING, { resources, tenant: null })
    }
    if (outside !== undefined && !hasTenant) {
      add('without', MISSING, { resources: { '*': rights, [tenant]: ids } })
    }
  }
  if (loaded.addresses !== undefined && hasTenant) {
    add('foreigner', UNAUTHENTICATED, { addressee: elsewhere })
  }
  if (loaded.addresses === undefined || issuer.audience !== undefined) return attempts
  // If each tenant has an address, and there is no audience, nobody is let in without a tenant.
  return attempts.filter((attempt) => hasTenant && attempt.tenant !== null)
}

function servesSuspended(policy: Policy, method: string, { loaded }: ProbeTarget): boolean {
  const isRead = method === 'GET' || method === 'HEAD'
  return policy.suspended || (isRead && loaded.settings.suspendedTenants === 'read')
}

/** Attempts of a stranger, whom a route for guests lets in, and with an expired token. */
export function unauthenticatedAttempts(
  policy: Policy | undefined,
  tenant: string,
  target: ProbeTarget,
): Attempt[] {
  const { ids } = requirementOf(policy, target)
  const resources = { '*': ids, [tenant]: ids }
  const ofStrangers = policy?.guests ? ADMITTED : UNAUTHENTICATED
  const { mustBeBound: isBound = false, stepUp: login = null } = policy ?? {}
  const both = { tenant, isBound, login }
  return [
    { persona: 'stranger', resources: null, isExpired: false, ...both, ...ofStrangers },
    { persona: 'expired', resources, isExpired: true, ...both, ...UNAUTHENTICATED },
  ]
}

/** The ids that a route requires, and the most of them that is not enough, without superusers. */
function requirementOf(policy: Policy | undefined, { loaded }: ProbeTarget) {
  const { superuserResource } = loaded.settings
  const superuser = superuserResource === undefined ? [] : [superuserResource]
  const { mode, ids = [] } = policy?.requirement ?? {}
  const unique = new Set(ids)
  const plain = [...unique].filter((id) => id !== superuserResource)
  const missing = plain.length < unique.size ? superuserResource : plain.at(-1)
  const { implied } = loaded.rights
  const isIt = (id: string) => missing !== undefined && implied?.isHeld(missing, new Set([id]))
  const most = plain.filter((id) => id !== missing && !isIt(id))
  return { ids: plain, most: mode === 'all' ? most : [], superuser }
}

function otherTenant(tenant: string, { issuer, foreign }: ProbeTarget): string {
  if (foreign !== undefined && foreign !== tenant) return foreign
  const own = issuer.tenants === '*' ? [] : issuer.tenants
  const other = tenant === ELSEWHERE ? `${ELSEWHERE}-2` : ELSEWHERE
  return own.find((each) => each !== tenant) ?? other
}

const ELSEWHERE = 'elsewhere'

const CLAIMS_CURE = 'give them: probe(app, authority, { claims })'

/**
 * Gives the header with the token of a persona; none for a stranger. Many routes are requested with
 * the same token. It throws if `mapClaims` makes another user of the token, or `resourcesOf` does
 * not return what was granted.
 */
export function personaHeaders(
  authority: TestAuthority,
  { loaded, issuer }: ProbeTarget,
  options: ProbeOptions,
) {
  const { grant, claims = (user) => ({ ...user }) } = options
  const tokens = new Map<string, Promise<string>>()
  const { clockTolerance, publicUrl } = loaded.settings
  const resourcesOf = resourcesOfIssuer(issuer, loaded)
  let proofKey: Promise<ProofKey> | undefined

  const rightsIn = (token: string): unknown => {
    const given = decodeJwt(token)
    try {
      return rights(Object((issuer.mapClaims?.(given) ?? given)['resources']))
    } catch {
      return undefined
    }
  }

  const audienceFor = (tenant: string | null) => {
    const address = tenant === null ? undefined : loaded.addresses?.of(tenant)
    return address === undefined ? {} : { audience: [authority.audience, address] }
  }

  async function make({ resources, isExpired, isBound, login, more }: Known): Promise<string> {
    const expiresIn = isExpired ? -60 - clockTolerance : 300
    // The answers of an application are cached for a while, so that each user has to be a new one.
    const sub = grant === undefined ? 'probe' : randomUUID()
    const given = { ...claims({ sub, resources }), ...loginClaims(login) }
    proofKey ??= isBound ? createProofKey() : undefined
    const key = isBound ? await proofKey : undefined
    const binding = key && { cnf: { jkt: key.jkt } }
    const token = await authority.token({ ...given, ...binding }, { expiresIn, ...more })
    const found = rightsIn(token)
    if (resourcesOf === undefined && !isDeepStrictEqual(found, rights(resources))) {
      if (options.claims === undefined) {
        throw new Error(`probe: mapClaims makes another user of the claims; ${CLAIMS_CURE}`)
      }
      throw new Error(
        `probe: mapClaims makes another user of what claims gives: expected the resources ${JSON.stringify(rights(resources))}, found ${JSON.stringify(found) ?? 'none'}; leave a mapClaims that cannot make them out of the application under test`,
      )
    }
    if (grant === undefined) return token
    const { iss = '', sub: subject = '' } = decodeJwt(token)
    const own = await grant({ issuer: iss, sub: subject, resources, ...binding })
    // A token that the application has made is good, and so it is none that has expired.
    if (typeof own === 'string') return isExpired ? token : own
    if (found === undefined) {
      throw new Error(`probe: mapClaims refuses the claims; ${CLAIMS_CURE}`)
    }
    const held = await resourcesOf?.({ issuer: iss, sub: subject })
    if (resourcesOf !== undefined && !includesAll(held, resources)) {
      throw new Error('probe: resourcesOf does not return what grant was given')
    }
    return token
  }

  return async (
    attempt: Omit<Attempt, 'status' | 'codes'>,
    { method, url }: { readonly method: string; readonly url: string },
  ): Promise<Record<string, string>> => {
    const { persona, resources, isExpired, isBound, login, tenant, addressee } = attempt
    if (resources === null) return {}
    const more = audienceFor(addressee ?? tenant)
    const key = JSON.stringify([isExpired, isBound, login, resources, more])
    const making = tokens.get(key) ?? make({ resources, isExpired, isBound, login, more })
    tokens.set(key, making)
    const token = await making
    if (proofKey === undefined || !isBound || persona === 'unproved') {
      return { authorization: `Bearer ${token}` }
    }
    return { ...(await proofKey).headers(token, method, `${publicUrl}${url}`) }
  }
}

/** The reason why the application refuses a token like those of the personas; null: it takes it. */
export async function goodTokenRefusal(
  { authenticator, waits, tenants }: ProbeTarget,
  tokenOf: ReturnType<typeof personaHeaders>,
): Promise<string | null> {
  const user = { resources: {}, isExpired: false, isBound: false, login: null }
  const tenant = tenants?.[0] ?? ELSEWHERE
  const { authorization = '' } = await tokenOf(
    { persona: 'without', tenant, ...user },
    { method: 'GET', url: '/' },
  )
  const finding = {
    cached: null,
    token: null,
    verified: null,
    possession: null,
    mustBeBound: false,
  }
  const token = authorization.slice('Bearer '.length)
  const ask = async () => authenticator.authenticateToken(token, waits, finding)
  const found = await ask().catch(asRefusal)
  return found instanceof AuthError ? `refused: ${found.code}, ${found.reason}` : null
}

interface Known extends Pick<Attempt, 'isExpired' | 'isBound' | 'login'> {
  readonly resources: Resources
  readonly more: Pick<TestTokenOptions, 'audience'>
}

function loginClaims(login: Attempt['login']) {
  if (login === null) return {}
  if (login === 'none') return { acr: undefined, auth_time: undefined }
  const [acr] = login.acr
  const time = Math.floor(Date.now() / 1000)
  return { ...(acr && { acr }), ...(login.maxAge !== null && { auth_time: time }) }
}

/** An application need not know what is held in all tenants. */
function includesAll(answer: unknown, resources: Resources): boolean {
  return Object.entries(resources).every(([tenant, ids]) => {
    if (tenant === '*') return true
    const held = ownMember(answer, tenant)
    return Array.isArray(held) && ids.every((id) => held.includes(id))
  })
}

/** An empty list under `*` says nothing. Under a tenant it makes a member. */
function rights(resources: object): unknown {
  const entries = Object.entries(resources)
  return Object.fromEntries(entries.filter(([tenant, ids]) => tenant !== '*' || ids.length > 0))
}
