import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Ask, allowedVerdicts, type Window } from './oracle.ts'
import { type Claims, type Jwt, LOGOUT } from './token.ts'
import { World } from './world.ts'

const INVALID = '401 ERR_AUTH_TOKEN_INVALID'
const FORBIDDEN = '403 ERR_AUTH_TENANT_FORBIDDEN'
const ISSUER = 'https://everybody.test'
const PINNED = 'https://acme.test'
const [SECONDS, NOW] = [1000, Math.floor(Date.now() / 1000)]

const CLAIMS: Claims = {
  iss: ISSUER,
  aud: 'soak',
  sub: 'alice',
  jti: 'a',
  sid: 's',
  iat: NOW,
  exp: NOW + 300,
  resources: { acme: ['menu:read'], '*': ['report:read'] },
}

/** What is changed in a world in which all is well, and in a request to which the answer is 200. */
interface Case {
  readonly says: string
  readonly claims?: Partial<Claims>
  readonly token?: Partial<Jwt>
  readonly ask?: Partial<Ask>
  readonly happens?: (world: World) => void
  /** Milliseconds from now on at which it is asked. */
  readonly after?: number
  readonly allowed: readonly string[]
}

function admittedTo(
  tenant: string | null,
  resources: readonly string[],
  issuer = ISSUER,
  suspended = false,
): string {
  return `200 ${JSON.stringify({ tenant, sub: 'alice', issuer, resources, suspended })}`
}

const GUEST = `200 ${JSON.stringify({ tenant: 'acme', sub: null, issuer: null, resources: [], suspended: false })}`
const STEP_UP = '401 ERR_AUTH_STEP_UP_REQUIRED'
const BOUND = { cnf: { jkt: 'a' } }
const PROOF = { isGood: true, isTaken: false, iat: NOW }
const LOGGED_OUT = { events: { [LOGOUT]: {} } }
const suspend = (world: World) => world.processes[0]?.tenants.change('acme', 'suspended')()

const ADMITTED = admittedTo('acme', ['menu:read', 'report:read'])

const CASES: readonly Case[] = [
  { says: 'a user is admitted', allowed: [ADMITTED] },
  { says: 'a stranger is not', ask: { token: null }, allowed: ['401 ERR_AUTH_TOKEN_MISSING'] },
  { says: 'a forged token is refused', token: { isGenuine: false }, allowed: [INVALID] },
  { says: 'a token for others is refused', claims: { aud: 'lunch' }, allowed: [INVALID] },
  { says: 'a stranger issuer is refused', claims: { iss: 'https://a.test' }, allowed: [INVALID] },
  { says: 'a bound token is no bearer token', claims: BOUND, allowed: [INVALID] },
  { says: 'its holder is admitted', claims: BOUND, ask: { proof: PROOF }, allowed: [ADMITTED] },
  {
    says: 'a proof that was taken is refused',
    claims: BOUND,
    ask: { proof: { ...PROOF, isTaken: true } },
    allowed: [INVALID],
  },
  {
    says: 'a proof that is too old is refused',
    claims: BOUND,
    ask: { proof: { ...PROOF, iat: NOW - 61 } },
    allowed: [INVALID],
  },
  {
    says: 'an unbound token needs no proof, and may have none',
    ask: { proof: PROOF },
    allowed: [INVALID],
  },
  {
    says: 'a call proves nothing',
    claims: BOUND,
    ask: { route: '/call', proof: PROOF },
    allowed: [INVALID],
  },
  {
    says: 'a guest is admitted without a token',
    ask: { route: '/:tenant/card', token: null },
    allowed: [GUEST],
  },
  {
    says: 'a user of another tenant is a guest',
    claims: { resources: { globex: [] } },
    ask: { route: '/:tenant/card' },
    allowed: [GUEST],
  },
  { says: 'an open route reads no token', ask: { route: '/:tenant/shop' }, allowed: [GUEST] },
  {
    says: 'a suspended tenant refuses its members',
    happens: suspend,
    after: 4 * SECONDS,
    allowed: ['403 ERR_AUTH_TENANT_SUSPENDED'],
  },
  {
    says: 'a suspended tenant is unknown to guests',
    ask: { route: '/:tenant/card' },
    claims: { resources: {} },
    happens: suspend,
    after: 4 * SECONDS,
    allowed: ['404 ERR_AUTH_TENANT_UNKNOWN'],
  },
  {
    says: 'a route may serve it',
    ask: { route: '/:tenant/billing' },
    happens: suspend,
    after: 4 * SECONDS,
    allowed: [admittedTo('acme', ['menu:read', 'report:read'], ISSUER, true)],
  },
  {
    says: 'an id contains another one',
    claims: { resources: { acme: ['menu:write'] } },
    ask: { route: '/:tenant/kitchen' },
    allowed: [admittedTo('acme', ['menu:write'])],
  },
  {
    says: 'a request may require no other id than those of its route',
    claims: { resources: { acme: [], '*': ['authz:superuser'] } },
    ask: { route: '/:tenant/edit', says: 'report:read' },
    allowed: ['403 ERR_AUTH_RESOURCE_MISSING'],
  },
  {
    says: 'a check refuses',
    ask: { route: '/:tenant/owned', says: 'no' },
    allowed: ['403 ERR_AUTH_NOT_PERMITTED'],
  },
  {
    says: 'a login must be of its kind',
    claims: { acr: 'pwd', auth_time: NOW },
    ask: { route: '/:tenant/vault' },
    allowed: [STEP_UP],
  },
  {
    says: 'a login must be fresh',
    claims: { acr: 'phr', auth_time: NOW - 40 },
    ask: { route: '/:tenant/vault' },
    allowed: [STEP_UP],
  },
  { says: 'a logout token is no access token', claims: LOGGED_OUT, allowed: [INVALID] },
  {
    says: 'a logout token logs out',
    claims: { ...LOGGED_OUT, aud: 'soak-web' },
    token: { typ: 'logout+jwt' },
    ask: { route: '/backchannel-logout' },
    allowed: ['200 logged out'],
  },
  {
    says: 'a logout token for another client does not',
    claims: LOGGED_OUT,
    token: { typ: 'logout+jwt' },
    ask: { route: '/backchannel-logout' },
    allowed: ['400 invalid_request'],
  },
  { says: 'an expired token is refused', claims: { exp: NOW - 10 }, allowed: [INVALID] },
  { says: 'within the tolerance it is not', claims: { exp: NOW - 1 }, allowed: [ADMITTED] },
  {
    says: 'a clock that was set ahead ends a token',
    happens: (world) => world.processes[0]?.clock.change(400 * SECONDS)(),
    allowed: [INVALID],
  },
  {
    says: 'a clock that is being set may, and may not',
    happens: (world) => void world.processes[0]?.clock.change(400 * SECONDS),
    allowed: [INVALID, ADMITTED],
  },
  {
    says: 'the pin of an issuer counts',
    claims: { iss: PINNED, resources: { acme: [], globex: ['menu:read'], '*': ['menu:read'] } },
    allowed: [admittedTo('acme', ['menu:read'], PINNED)],
  },
  {
    says: 'the pin takes other tenants away',
    claims: { iss: PINNED, resources: { globex: [], '*': ['authz:superuser'] } },
    allowed: [FORBIDDEN],
  },
  { says: 'another tenant is refused', ask: { tenants: ['globex'] }, allowed: [FORBIDDEN] },
  {
    says: 'two tenants are none',
    ask: { route: '/orders', tenants: ['acme', 'acme'] },
    allowed: ['400 ERR_AUTH_TENANT_INVALID'],
  },
  {
    says: 'a refusal is not older than two seconds',
    ask: { process: 1 },
    happens: (world) => {
      const alice = World.userKey({ issuer: ISSUER, sub: 'alice' })
      world.processes[1]?.rights.change(alice, { globex: [] })()
      world.processes[1]?.rights.change(alice, { acme: [] })()
    },
    after: 4 * SECONDS,
    allowed: [admittedTo('acme', [])],
  },
  {
    says: 'all ids are needed',
    ask: { route: '/:tenant/kitchen' },
    allowed: ['403 ERR_AUTH_RESOURCE_MISSING'],
  },
  {
    says: 'a tenant that has gone is there for its time, and then is not',
    happens: (world) => world.processes[0]?.tenants.change('acme', false)(),
    after: 2 * SECONDS,
    allowed: [ADMITTED, '404 ERR_AUTH_TENANT_UNKNOWN'],
  },
  {
    says: 'after that time it is gone',
    happens: (world) => world.processes[0]?.tenants.change('acme', false)(),
    after: 4 * SECONDS,
    allowed: ['404 ERR_AUTH_TENANT_UNKNOWN'],
  },
  {
    says: 'keys serve for their last age, and no longer',
    after: 25 * SECONDS,
    allowed: ['503 ERR_AUTH_KEYS_UNAVAILABLE'],
  },
  {
    says: 'a withdrawn key is refused as soon as the process has the newer set',
    happens: (world) => {
      world.issuers.get(ISSUER)?.published.change(new Set(['k2']))()
      world.issuers.get(ISSUER)?.served[0]?.serve(new Set(['k2']))
      world.issuers.get(ISSUER)?.served[0]?.receive()
    },
    allowed: [INVALID],
  },
  {
    says: 'an entry counts at once where it was added',
    happens: ({ revocations }) => revocations.end(revocations.begin({ jti: 'a' }, 0), true),
    allowed: [INVALID],
  },
  {
    says: 'in another process it may take its time',
    happens: ({ revocations }) => revocations.end(revocations.begin({ jti: 'a' }, 1), true),
    allowed: [INVALID, ADMITTED],
  },
  {
    says: 'but no longer',
    happens: ({ revocations }) => revocations.end(revocations.begin({ jti: 'a' }, 1), true),
    after: 3 * SECONDS,
    allowed: [INVALID],
  },
  {
    says: 'an entry of before concerns no later token',
    happens: ({ revocations }) => {
      const entry = { sub: 'alice', issuer: ISSUER, issuedBefore: NOW * SECONDS }
      revocations.end(revocations.begin(entry, 0), true)
    },
    allowed: [ADMITTED],
  },
  {
    says: 'a list that is too old admits no token',
    happens: ({ store }) => store.begin(),
    after: 8 * SECONDS,
    allowed: ['503 ERR_AUTH_REVOCATION_UNAVAILABLE'],
  },
  {
    says: 'while the store comes back the list may be new again, and need not be',
    happens: ({ store }) => {
      store.begin()
      store.beginReturn()
    },
    after: 8 * SECONDS,
    allowed: ['503 ERR_AUTH_REVOCATION_UNAVAILABLE', ADMITTED],
  },
  {
    says: 'an entry that the store took with it is perhaps not known, and admits no token',
    happens: ({ revocations, store }) => {
      revocations.end(revocations.begin({ jti: 'a' }, 1), true)
      store.begin()
    },
    after: 6.5 * SECONDS,
    allowed: [INVALID, '503 ERR_AUTH_REVOCATION_UNAVAILABLE'],
  },
  {
    says: 'rights come from the application where it tells them',
    ask: { process: 1 },
    happens: (world) => world.processes[1]?.rights.fail('throws')(),
    after: 4 * SECONDS,
    allowed: ['503 ERR_AUTH_RESOURCES_UNAVAILABLE'],
  },
]

function wellWorld(): World {
  const world = new World(['claims', 'application'])
  for (const [issuer, tenants] of [
    [ISSUER, '*'],
    [PINNED, ['acme']],
  ] as const) {
    const { served } = world.trust(issuer, tenants, new Set(['k1']))
    for (const keys of served) {
      keys.serve(new Set(['k1']))
      keys.receive()
    }
  }
  for (const { tenants } of world.processes) tenants.change('acme', true)()
  return world
}

function windowAfter(milliseconds: number): Window {
  const [from, wall] = [performance.now() + milliseconds, NOW * SECONDS + milliseconds]
  return { from, until: from + 5, wall: { from: wall, until: wall + 5 } }
}

describe('the oracle of the soak', () => {
  for (const { says, claims, token, ask, happens, after = 300, allowed } of CASES) {
    it(says, () => {
      const world = wellWorld()
      happens?.(world)
      const jwt: Jwt = {
        kind: 'jwt',
        text: '',
        claims: { ...CLAIMS, ...claims },
        typ: 'at+jwt',
        kid: 'k1',
        isGenuine: true,
        isSigned: true,
        ...token,
      }
      const asked: Ask = {
        persona: 'user',
        process: 0,
        route: '/:tenant/menus',
        tenants: ['acme'],
        says: '',
        token: jwt,
        proof: null,
        ...ask,
      }
      const verdicts = allowedVerdicts(asked, world, windowAfter(after))
      assert.deepEqual(verdicts, new Set(allowed))
    })
  }
})
