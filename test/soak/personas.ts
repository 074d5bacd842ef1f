import { encode, forge, forgeKey, partsOf } from '../helpers/tokens/forge.ts'
import { type Cast, TENANTS, type User } from './cast.ts'
import type { Ask } from './oracle.ts'
import type { Random } from './random.ts'
import { ROUTE_NAMES, type Route } from './routes.ts'
import type { Claims, Jwt, Token } from './token.ts'

/** A request, as it is sent. */
export interface Sent {
  readonly ask: Ask
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
}

/** What a persona shows: credentials, or a whole header. */
type Shown = Token | { readonly header: string } | null

type Persona = (user: User, cast: Cast, random: Random) => Shown

/** Keys of no issuer, of each algorithm that one has. */
const STRANGER_KEYS = ['ES256', 'EdDSA', 'ES384'].map((alg) => forgeKey(alg, 'stranger-1'))

/** A token of some claims that no key of the issuer has signed, though it names one. */
function forged({ issuer }: User, claims: Claims, kid = issuer.kid): Jwt {
  const key = STRANGER_KEYS.find(({ alg }) => alg === issuer.alg)
  if (key === undefined) throw new Error(`no stranger has a key of ${issuer.alg}`)
  const text = forge(key, { header: { kid }, payload: claims })
  return { kind: 'jwt', text, claims, kid, isGenuine: false, isSigned: true }
}

function changed(user: User, change: Partial<Claims>, cast: Cast, random: Random): Jwt {
  return user.issuer.sign({ ...cast.claimsOf(user, random), ...change })
}

/** Who asks, by a word, and how often. */
const PERSONAS: readonly (readonly [name: string, weight: number, persona: Persona])[] = [
  ['user', 60, (user, cast, random) => cast.tokenOf(user, random)],
  ['user by an opaque token', 15, (user) => user.opaque],
  ['stranger', 3, () => null],
  ['another scheme', 1, () => ({ header: 'Basic c29hazpzb2Fr' })],
  [
    'unknown opaque token',
    2,
    (_user, _cast, random) => ({ kind: 'opaque', text: `unknown-${random.below(2 ** 30)}` }),
  ],
  ['forged signature', 4, (user, cast, random) => forged(user, cast.claimsOf(user, random))],
  [
    'unknown key',
    2,
    (user, cast, random) => forged(user, cast.claimsOf(user, random), 'stranger-1'),
  ],
  [
    'changed payload',
    3,
    (user, cast, random) => withOtherPayload(cast.tokenOf(user, random), user),
  ],
  ['another audience', 3, (user, cast, random) => changed(user, { aud: 'lunch' }, cast, random)],
  [
    'unknown issuer',
    2,
    (user, cast, random) => changed(user, { iss: 'https://unknown.test' }, cast, random),
  ],
  ['another issuer', 2, (user, cast, random) => ofAnotherIssuer(user, cast, random)],
  [
    'expired',
    2,
    (user, cast, random) =>
      changed(user, { exp: secondsAgo(10 + random.below(100)) }, cast, random),
  ],
  [
    'bound to its sender',
    1,
    (user, cast, random) => changed(user, { cnf: { jkt: 'a' } }, cast, random),
  ],
  ['unsigned', 1, (user, cast, random) => unsigned(cast.tokenOf(user, random))],
]

/** Each as often as it weighs. */
const EACH = PERSONAS.flatMap(([name, weight, persona]) =>
  Array.from({ length: weight }, () => [name, persona] as const),
)

function secondsAgo(seconds: number): number {
  return Math.floor(Date.now() / 1000) - seconds
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
export function nextAsk(cast: Cast, processes: number, random: Random): Sent {
  const [persona, show] = random.pick(EACH)
  const user = cast.pick(random)
  const shown = show(user, cast, random)
  const route = random.pick(ROUTE_NAMES)
  const tenants = tenantsFor(route, user, random)
  const header =
    shown === null ? undefined : 'header' in shown ? shown.header : `Bearer ${shown.text}`
  const token = shown === null || 'header' in shown ? null : shown
  return {
    ask: { persona, process: random.below(processes), route, tenants, token },
    path: pathOf(route, tenants),
    headers: header === undefined ? {} : { authorization: header },
  }
}

/** Mostly one tenant, and often one of the user's own. */
function tenantsFor(route: Route, { resources = {} }: User, random: Random): string[] {
  const own = Object.keys(resources).filter((tenant) => tenant !== '*')
  if (own.length > 0 && random.chance(0.5)) return [random.pick(own)]
  if (random.chance(0.8)) return [random.pick(TENANTS)]
  const odd = random.pick(['*', 'nowhere', 'Acme', 'a\nb', 'x'.repeat(256)])
  if (route.includes(':tenant') || random.chance(0.4)) return [odd]
  return random.pick([[], [], [''], ['acme', 'acme'], ['acme', 'globex']])
}

function pathOf(route: Route, tenants: readonly string[]): string {
  const [tenant = ''] = tenants
  // The query says something else: it must not be looked at.
  if (route.includes(':tenant')) {
    return `${route.replace(':tenant', encodeURIComponent(tenant))}?tenant=globex`
  }
  return `${route}?${tenants.map((name) => `tenant=${encodeURIComponent(name)}`).join('&')}`
}
