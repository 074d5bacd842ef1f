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

function row(says: string, allowed: string | readonly string[], more: Partial<Case> = {}): Case {
  return { says, allowed: [allowed].flat(), ...more }
}

const CASES: readonly Case[] = [
  row('a user is admitted', ADMITTED),
  row('a stranger is not', '401 ERR_AUTH_TOKEN_MISSING', { ask: { token: null } }),
  row('a forged token is refused', INVALID, { token: { isGenuine: false } }),
  row('a token for others is refused', INVALID, { claims: { aud: 'lunch' } }),
  row('a stranger issuer is refused', INVALID, { claims: { iss: 'https://a.test' } }),
  row('a bound token is no bearer token', INVALID, { claims: BOUND }),
  row('its holder is admitted', ADMITTED, { claims: BOUND, ask: { proof: PROOF } }),
  row('a proof that was taken is refused', INVALID, {
    claims: BOUND,
    ask: { proof: { ...PROOF, isTaken: true } },
  }),
  row(
    'a proof under way when the store goes may be sent to it twice',
    ['503 ERR_AUTH_PROOFS_UNAVAILABLE', INVALID, '403 ERR_AUTH_TENANT_FORBIDDEN'],
    { claims: BOUND, ask: { process: 1, proof: PROOF }, happens: ({ store }) => store.begin() },
  ),
  row('a proof that is too old is refused', INVALID, {
    claims: BOUND,
    ask: { proof: { ...PROOF, iat: NOW - 61 } },
  }),
  row('an unbound token needs no proof, and may have none', INVALID, { ask: { proof: PROOF } }),
  row('a call proves nothing', INVALID, { claims: BOUND, ask: { route: '/call', proof: PROOF } }),
  row('a guest is admitted without a token', GUEST, {
    ask: { route: '/:tenant/card', token: null },
  }),
  row('a user of another tenant is a guest', GUEST, {
    claims: { resources: { globex: [] } },
    ask: { route: '/:tenant/card' },
  }),
  row('an open route reads no token', GUEST, { ask: { route: '/:tenant/shop' } }),
  row('a suspended tenant refuses its members', '403 ERR_AUTH_TENANT_SUSPENDED', {
    happens: suspend,
    after: 4 * SECONDS,
  }),
  row('a suspended tenant is unknown to guests', '404 ERR_AUTH_TENANT_UNKNOWN', {
    ask: { route: '/:tenant/card' },
    claims: { resources: {} },
    happens: suspend,
    after: 4 * SECONDS,
  }),
  row('a route may serve it', admittedTo('acme', ['menu:read', 'report:read'], ISSUER, true), {
    ask: { route: '/:tenant/billing' },
    happens: suspend,
    after: 4 * SECONDS,
  }),
  row('an id contains another one', admittedTo('acme', ['menu:write']), {
    claims: { resources: { acme: ['menu:write'] } },
    ask: { route: '/:tenant/kitchen' },
  }),
  row(
    'a request may require no other id than those of its route',
    '403 ERR_AUTH_RESOURCE_MISSING',
    {
      claims: { resources: { acme: [], '*': ['authz:superuser'] } },
      ask: { route: '/:tenant/edit', says: 'report:read' },
    },
  ),
  row('a check refuses', '403 ERR_AUTH_NOT_PERMITTED', {
    ask: { route: '/:tenant/owned', says: 'no' },
  }),
  row('a login must be of its kind', STEP_UP, {
    claims: { acr: 'pwd', auth_time: NOW },
    ask: { route: '/:tenant/vault' },
  }),
  row('a login must be fresh', STEP_UP, {
    claims: { acr: 'phr', auth_time: NOW - 40 },
    ask: { route: '/:tenant/vault' },
  }),
  row('a logout token is no access token', INVALID, { claims: LOGGED_OUT }),
  row('a logout token logs out', '200 logged out', {
    claims: { ...LOGGED_OUT, aud: 'soak-web' },
    token: { typ: 'logout+jwt' },
    ask: { route: '/backchannel-logout' },
  }),
  row('a logout token for another client does not', '400 invalid_request', {
    claims: LOGGED_OUT,
    token: { typ: 'logout+jwt' },
    ask: { route: '/backchannel-logout' },
  }),
  row('an expired token is refused', INVALID, { claims: { exp: NOW - 10 } }),
  row('within the tolerance it is not', ADMITTED, { claims: { exp: NOW - 1 } }),
  row('a clock that was set ahead ends a token', INVALID, {
    happens: (world) => world.processes[0]?.clock.change(400 * SECONDS)(),
  }),
  row('a clock that is being set may, and may not', [INVALID, ADMITTED], {
    happens: (world) => void world.processes[0]?.clock.change(400 * SECONDS),
  }),
  row('the pin of an issuer counts', admittedTo('acme', ['menu:read'], PINNED), {
    claims: { iss: PINNED, resources: { acme: [], globex: ['menu:read'], '*': ['menu:read'] } },
  }),
  row('the pin takes other tenants away', FORBIDDEN, {
    claims: { iss: PINNED, resources: { globex: [], '*': ['authz:superuser'] } },
  }),
  row('another tenant is refused', FORBIDDEN, { ask: { tenants: ['globex'] } }),
  row('two tenants are none', '400 ERR_AUTH_TENANT_INVALID', {
    ask: { route: '/orders', tenants: ['acme', 'acme'] },
  }),
  row('a refusal is not older than two seconds', admittedTo('acme', []), {
    ask: { process: 1 },
    happens: (world) => {
      const alice = World.userKey({ issuer: ISSUER, sub: 'alice' })
      world.processes[1]?.rights.change(alice, { globex: [] })()
      world.processes[1]?.rights.change(alice, { acme: [] })()
    },
    after: 4 * SECONDS,
  }),
  row(
    'what is refused to everybody may rest on rights that are kept',
    ['403 ERR_AUTH_RESOURCE_MISSING', FORBIDDEN],
    {
      ask: { process: 1, route: '/:tenant/edit', says: 'menu:delete' },
      happens: (world) => {
        const alice = World.userKey({ issuer: ISSUER, sub: 'alice' })
        world.processes[1]?.rights.change(alice, { acme: [] })()
        world.processes[1]?.rights.change(alice, { globex: [] })()
      },
      after: 4 * SECONDS,
    },
  ),
  row(
    'so may the answer for a tenant that is gone, beside a refusal that may not',
    ['404 ERR_AUTH_TENANT_UNKNOWN', FORBIDDEN],
    {
      ask: { process: 1, route: '/:tenant/kitchen' },
      happens: (world) => {
        const alice = World.userKey({ issuer: ISSUER, sub: 'alice' })
        world.processes[1]?.rights.change(alice, { acme: [] })()
        world.processes[1]?.rights.change(alice, { globex: [] })()
        world.processes[1]?.tenants.change('acme', false)()
      },
      after: 2.5 * SECONDS,
    },
  ),
  row('all ids are needed', '403 ERR_AUTH_RESOURCE_MISSING', {
    ask: { route: '/:tenant/kitchen' },
  }),
  row(
    'a tenant that has gone is there for its time, and then is not',
    [ADMITTED, '404 ERR_AUTH_TENANT_UNKNOWN'],
    { happens: (world) => world.processes[0]?.tenants.change('acme', false)(), after: 2 * SECONDS },
  ),
  row('after that time it is gone', '404 ERR_AUTH_TENANT_UNKNOWN', {
    happens: (world) => world.processes[0]?.tenants.change('acme', false)(),
    after: 4 * SECONDS,
  }),
  row('keys serve for their last age, and no longer', '503 ERR_AUTH_KEYS_UNAVAILABLE', {
    after: 25 * SECONDS,
  }),
  row('a withdrawn key is refused as soon as the process has the newer set', INVALID, {
    happens: (world) => {
      world.issuers.get(ISSUER)?.published.change(new Set(['k2']))()
      world.issuers.get(ISSUER)?.served[0]?.serve(new Set(['k2']))
      world.issuers.get(ISSUER)?.served[0]?.receive()
    },
  }),
  row('an entry counts at once where it was added', INVALID, {
    happens: ({ revocations }) => revocations.end(revocations.begin({ jti: 'a' }, 0), true),
  }),
  row('in another process it may take its time', [INVALID, ADMITTED], {
    happens: ({ revocations }) => revocations.end(revocations.begin({ jti: 'a' }, 1), true),
  }),
  row('but no longer', INVALID, {
    happens: ({ revocations }) => revocations.end(revocations.begin({ jti: 'a' }, 1), true),
    after: 3 * SECONDS,
  }),
  row('an entry of before concerns no later token', ADMITTED, {
    happens: ({ revocations }) => {
      const entry = { sub: 'alice', issuer: ISSUER, issuedBefore: NOW * SECONDS }
      revocations.end(revocations.begin(entry, 0), true)
    },
  }),
  row('a list that is too old admits no token', '503 ERR_AUTH_REVOCATION_UNAVAILABLE', {
    happens: ({ store }) => store.begin(),
    after: 8 * SECONDS,
  }),
  row(
    'while the store comes back the list may be new again, and need not be',
    ['503 ERR_AUTH_REVOCATION_UNAVAILABLE', ADMITTED],
    {
      happens: ({ store }) => {
        store.begin()
        store.beginReturn()
      },
      after: 8 * SECONDS,
    },
  ),
  row(
    'an entry that the store took with it is perhaps not known, and admits no token',
    [INVALID, '503 ERR_AUTH_REVOCATION_UNAVAILABLE'],
    {
      happens: ({ revocations, store }) => {
        revocations.end(revocations.begin({ jti: 'a' }, 1), true)
        store.begin()
      },
      after: 6.5 * SECONDS,
    },
  ),
  row(
    'rights come from the application where it returns them',
    '503 ERR_AUTH_RESOURCES_UNAVAILABLE',
    {
      ask: { process: 1 },
      happens: (world) => world.processes[1]?.rights.fail('throws')(),
      after: 4 * SECONDS,
    },
  ),
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
