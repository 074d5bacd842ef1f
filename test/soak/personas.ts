import { createHmac } from 'node:crypto'
import { type ProofKey, type ProofParts, proofKey, proofOf } from '../helpers/tokens/bound.ts'
import { encode, forge, forgeKey, partsOf } from '../helpers/tokens/forge.ts'
import { type Cast, TENANTS, type User } from './cast.ts'
import type { Ask, Proof } from './oracle.ts'
import type { Random } from './random.ts'
import { CALL, CHECKS, declaredOf, LOGOUT_ROUTE, ROUTE_NAMES, type Route } from './routes.ts'
import { CLIENT, PUBLIC_URL, SECRETS } from './settings.ts'
import { type Claims, type Jwt, LOGOUT, type Secret, type Token } from './token.ts'
import type { World } from './world.ts'

/** A request, as it is sent. */
export interface Sent {
  readonly ask: Ask
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** Sent by POST. */
  readonly body?: string
}

/** What a persona shows: credentials, with a proof or in a whole header. */
interface Shown {
  readonly token: Token | null
  readonly header?: string
  /** How the proof of the holder is made; the scheme is DPoP. */
  readonly proof?: (random: Random) => { readonly isGood: boolean; readonly parts: ProofParts }
}

type Persona = (user: User, cast: Cast, random: Random) => Shown

/** Keys of no issuer, of each algorithm that one has. */
const STRANGER_KEYS = ['ES256', 'EdDSA', 'ES384'].map((alg) => forgeKey(alg, 'stranger-1'))

const HOLDER: ProofKey = await proofKey('ES256')
const OTHER: ProofKey = await proofKey('EdDSA')

const BOUND = { cnf: { jkt: HOLDER.thumbprint } }

const good = () => ({ isGood: true, parts: {} })
const bad = () => ({ isGood: false, parts: {} })

/** One fault each. */
const FAULTS: readonly ProofParts[] = [
  { method: 'PUT' },
  { url: `${PUBLIC_URL}/elsewhere` },
  { claims: { ath: 'another' } },
  { claims: { jti: '' } },
  { header: { typ: 'JWT' } },
  { header: { jwk: OTHER.jwk } },
  { signer: OTHER.pair, header: { alg: 'ES256' } },
  { bend: (proof) => `${proof.slice(0, -8)}AAAAAAAA` },
  { bend: (proof) => `${proof}, ${proof}` },
]

/** A token of some claims that no key of the issuer has signed, though it names one. */
function forged({ issuer }: User, claims: Claims, { kid = issuer.kid, typ = 'at+jwt' } = {}): Jwt {
  const key = STRANGER_KEYS.find(({ alg }) => alg === issuer.alg)
  if (key === undefined) throw new Error(`no stranger has a key of ${issuer.alg}`)
  const text = forge(key, { header: { kid, typ }, payload: claims })
  return { kind: 'jwt', text, claims, typ, kid, isGenuine: false, isSigned: true }
}

/** A token that says something else than the user's others. */
function changed(change: (random: Random) => Partial<Claims>): Persona {
  return (user, cast, random) => ({
    token: user.issuer.sign({ ...cast.claimsOf(user, random), ...change(random) }),
  })
}

/** A token of the holder of a key, with a proof. */
function bound(proof: Shown['proof'], claims: Partial<Claims> = BOUND): Persona {
  return (user, cast, random) => {
    const all = { ...cast.claimsOf(user, random), ...claims }
    const isSecret = random.chance(0.2)
    const token = isSecret ? secretOf(cast.pickOfFirst(random), cast, random, claims) : undefined
    return { token: token ?? user.issuer.sign(all), ...(proof && { proof }) }
  }
}

/** Signed with a secret. It may leave its issuer to the applications. */
function secretOf(
  user: User,
  cast: Cast,
  random: Random,
  change: Partial<Claims> = {},
  isGenuine = true,
): Secret {
  const claims = { ...cast.claimsOf(user, random), ...change }
  const { iss, ...others } = claims
  const payload = random.chance(0.5) ? claims : others
  const input = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(payload)}`
  const secret = isGenuine ? random.pick(SECRETS) : 'a secret of somebody else, of 40 bytes..'
  const text = `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`
  return { kind: 'secret', text, claims, isGenuine }
}

/** Mostly one that was used before. */
function usedSecret(cast: Cast, random: Random): Secret {
  const user = cast.pickOfFirst(random)
  if (user.secrets.length > 0 && !random.chance(0.2)) return random.pick(user.secrets)
  const made = secretOf(user, cast, random)
  user.secrets.push(made)
  if (user.secrets.length > 3) user.secrets.shift()
  return made
}

/** Who asks, by a word, and how often. */
const PERSONAS: readonly (readonly [name: string, weight: number, persona: Persona])[] = [
  ['user', 60, (user, cast, random) => ({ token: cast.tokenOf(user, random) })],
  ['user by an opaque token', 15, ({ opaque }) => ({ token: opaque })],
  ['user by a secret', 8, (_user, cast, random) => ({ token: usedSecret(cast, random) })],
  ['user by a bound token', 12, bound(good)],
  ['stranger', 4, () => ({ token: null })],
  ['another scheme', 1, () => ({ token: null, header: 'Basic c29hazpzb2Fr' })],
  [
    'unknown opaque token',
    2,
    (_user, _cast, random) => ({
      token: { kind: 'opaque', text: `unknown-${random.below(2 ** 30)}` },
    }),
  ],
  [
    'forged signature',
    4,
    (user, cast, random) => ({ token: forged(user, cast.claimsOf(user, random)) }),
  ],
  [
    'forged secret',
    2,
    (_user, cast, random) => ({
      token: secretOf(cast.pickOfFirst(random), cast, random, {}, false),
    }),
  ],
  [
    'unknown key',
    2,
    (user, cast, random) => ({
      token: forged(user, cast.claimsOf(user, random), { kid: 'stranger-1' }),
    }),
  ],
  [
    'changed payload',
    3,
    (user, cast, random) => ({ token: withOtherPayload(cast.tokenOf(user, random), user) }),
  ],
  ['another audience', 3, changed(() => ({ aud: 'lunch' }))],
  ['unknown issuer', 2, changed(() => ({ iss: 'https://unknown.test' }))],
  ['another issuer', 2, (user, cast, random) => ({ token: ofAnotherIssuer(user, cast, random) })],
  ['expired', 2, changed((random) => ({ exp: now() - 10 - random.below(100) }))],
  ['logout token', 1, changed(() => ({ events: { [LOGOUT]: {} } }))],
  ['bound token as Bearer', 2, bound(undefined)],
  ['bound to something unknown', 1, bound(bad, { cnf: { jkt: 'a' } })],
  ['unbound token with a proof', 1, bound(good, {})],
  ['bad proof', 4, bound((random) => ({ isGood: false, parts: random.pick(FAULTS) }))],
  ['old proof', 1, bound(() => ({ isGood: true, parts: { claims: { iat: now() - 100 } } }))],
  ['unsigned', 1, (user, cast, random) => ({ token: unsigned(cast.tokenOf(user, random)) })],
]

/** Each as often as it weighs. */
const EACH = PERSONAS.flatMap(([name, weight, persona]) =>
  Array.from({ length: weight }, () => [name, persona] as const),
)

function now(): number {
  return Math.floor(Date.now() / 1000)
}

/** The same signature, for more rights. */
function withOtherPayload(token: Jwt, user: User): Jwt {
  const [header, , signature] = partsOf(token.text)
  const resources = Object.fromEntries(
    TENANTS.map((tenant) => [tenant, ['menu:read', 'menu:write']]),
  )
  const claims = {
    ...token.claims,
    resources,
    jti: `${user.sub}-changed`,
    exp: token.claims.exp + 1,
  }
  return { ...token, claims, text: `${header}.${encode(claims)}.${signature}`, isGenuine: false }
}

/** Signed well, by the key of another issuer than it names. */
function ofAnotherIssuer(user: User, cast: Cast, random: Random): Jwt {
  const { issuer } = cast.users.find((other) => other.issuer !== user.issuer) ?? user
  const token = issuer.sign(cast.claimsOf(user, random))
  return { ...token, isGenuine: issuer === user.issuer }
}

function unsigned(token: Jwt): Jwt {
  const text = `${encode({ alg: 'none', kid: token.kid, typ: 'at+jwt' })}.${encode(token.claims)}.`
  return { ...token, text, isGenuine: false, isSigned: false }
}

/** The next request. */
export function nextAsk(cast: Cast, { processes }: World, random: Random): Sent {
  const process = random.below(processes.length)
  if (random.chance(0.01)) return logoutAsk(cast, process, random)
  const [persona, show] = random.pick(EACH)
  const user = cast.pick(random)
  const shown = show(user, cast, random)
  const takesBodies = processes[process]?.rightsFrom === 'application'
  const route = random.pick<Route>([
    ...ROUTE_NAMES.filter((name) => takesBodies || declaredOf(name).late !== true),
    CALL,
  ])
  const tenants = tenantsFor(route, user, random)
  const says = saysFor(route, random)
  const path = pathOf(route, tenants, says)
  const { token } = shown
  const { headers, proof } = credentialsOf(shown, path, route, random)
  const ask = { persona, process, route, tenants, says, token, proof }
  if (path !== route) return { ask, path, headers }
  const [tenant = null] = tenants
  const who = { token: token?.text ?? '', tenant }
  const body = route === CALL ? who : { tenant: tenants.length > 1 ? tenants : tenant }
  return {
    ask: route === CALL ? { ...ask, proof: null } : ask,
    path,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }
}

function credentialsOf(shown: Shown, path: string, route: Route, random: Random) {
  const { token, header, proof: make } = shown
  if (header !== undefined) return { headers: { authorization: header }, proof: null }
  if (token === null) return { headers: {}, proof: null }
  if (make === undefined) return { headers: { authorization: `Bearer ${token.text}` }, proof: null }
  const { isGood, parts } = make(random)
  const url = PUBLIC_URL + path.split('?', 1).join()
  const method = declaredOf(route).late ? 'POST' : 'GET'
  const iat = now()
  const claims = { iat, jti: `proof-${random.next()}-${random.next()}`, ...Object(parts.claims) }
  const dpop = proofOf(HOLDER, { url, method, token: token.text, ...parts, claims })
  const proof: Proof = { isGood, isTaken: false, iat: claims.iat }
  return { headers: { authorization: `DPoP ${token.text}`, dpop }, proof }
}

/** A logout, or what only looks like one. */
function logoutAsk(cast: Cast, process: number, random: Random): Sent {
  const user = cast.pick(random)
  const { resources, acr, auth_time, ...names } = cast.tokenOf(user, random).claims
  const claims: Claims = {
    ...names,
    aud: CLIENT,
    iat: now(),
    exp: now() + 60,
    events: { [LOGOUT]: {} },
    ...(random.chance(0.1) && { aud: 'soak' }),
    ...(random.chance(0.1) && { nonce: 'n' }),
    ...(random.chance(0.1) && { events: { other: {} } }),
  }
  const typ = random.pick(['logout+jwt', 'logout+jwt', 'JWT', 'at+jwt'])
  const token = random.chance(0.2)
    ? forged(user, claims, { typ })
    : user.issuer.sign(claims, 0, typ)
  const ask = { process, route: LOGOUT_ROUTE, tenants: [], says: '', token, proof: null } as const
  return {
    ask: { persona: 'authorization server', ...ask },
    path: LOGOUT_ROUTE,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: `logout_token=${token.text}`,
  }
}

/** Mostly one tenant, and often one of the user's own. */
function tenantsFor(route: Route, { resources = {} }: User, random: Random): string[] {
  const own = Object.keys(resources).filter((tenant) => tenant !== '*')
  if (own.length > 0 && random.chance(0.5)) return [random.pick(own)]
  if (random.chance(0.8)) return [random.pick(TENANTS)]
  const odd = random.pick(['*', 'nowhere', 'Acme', 'a\nb', 'x'.repeat(256)])
  if (route.includes(':tenant') || random.chance(0.4)) return [odd]
  const several = random.pick([[], [], [''], ['acme', 'acme'], ['acme', 'globex']])
  return route === CALL ? several.slice(0, 1) : several
}

function saysFor(route: Route, random: Random): string {
  if (route === '/:tenant/owned') return random.chance(0.6) ? 'yes' : random.pick(CHECKS)
  const odd = random.pick(['menu:delete', 'report:read', ''])
  return random.chance(0.1) ? odd : random.pick(['menu:read', 'menu:write'])
}

/** The route itself, where all stands in the body. */
function pathOf(route: Route, tenants: readonly string[], says: string): string {
  const [tenant = ''] = tenants
  if (route === CALL || declaredOf(route).late) return route
  // The query says something else: it must not be looked at.
  if (route.includes(':tenant')) {
    const path = route.replace(':tenant', encodeURIComponent(tenant))
    return `${path}?tenant=globex&says=${encodeURIComponent(says)}`
  }
  return `${route}?${tenants.map((name) => `tenant=${encodeURIComponent(name)}`).join('&')}`
}
