import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import Fastify, { type FastifyInstance } from 'fastify'
import tenantAuth, {
  type AuthOptions,
  authorizationOf,
  type RouteDeclaration,
} from '../../lib/index.ts'
import { authority, trusting } from '../helpers/app/guarded-app.ts'
import { PROPERTY_RUNS, PROPERTY_SEED } from '../helpers/arbitraries/property.ts'

/** Each run makes an application. */
const RUNS = PROPERTY_RUNS

const SUPERUSER = 'root:all'
const IMPLIES = { 'menu:edit': ['menu:read'], 'admin:all': ['menu:edit', 'order:cancel'] }

/** What each id stands for, written out. */
const STANDS_FOR: Readonly<Record<string, readonly string[]>> = {
  'menu:read': ['menu:read'],
  'menu:edit': ['menu:edit', 'menu:read'],
  'order:cancel': ['order:cancel'],
  'admin:all': ['admin:all', 'menu:edit', 'menu:read', 'order:cancel'],
}

const anyIds = fc.subarray(Object.keys(STANDS_FOR), { maxLength: 2 })
const someIds = fc.subarray(Object.keys(STANDS_FOR), { minLength: 1, maxLength: 2 })

/** A tenant that exists, a suspended one, and one that does not exist. */
const TENANTS = ['known', 'old', 'gone'] as const

const anyUser = fc.record({
  isSuperuser: fc.integer({ min: 0, max: 4 }).map((n) => n === 0),
  everywhere: anyIds,
  held: fc.record({ known: anyIds, old: anyIds, gone: anyIds }, { requiredKeys: [] }),
})

const anyRequire = fc.oneof(
  fc.constant(null),
  fc.record({ kind: fc.constantFrom('all', 'any'), ids: someIds }),
  // What the function does; a number: it returns so many ids of the list.
  fc.record({ kind: fc.constant('by'), ids: someIds, by: fc.constantFrom(1, 2, 'none', 'throws') }),
)

const anyRoute = fc.record({
  place: fc.constantFrom('path', 'path', 'query', 'optional', 'none'),
  open: fc.integer({ min: 0, max: 4 }).map((n) => n === 0),
  guests: fc.boolean(),
  late: fc.boolean(),
  suspended: fc.boolean(),
  require: anyRequire,
  /** The answers of its checks, in their order. */
  checks: fc.array(fc.constantFrom('yes', 'yes', 'yes', 'no', 'broken'), { maxLength: 2 }),
})

const anyAsked = fc.record({
  method: fc.constantFrom('GET', 'HEAD', 'POST'),
  /** Null: no credentials. */
  user: fc.option(anyUser, { freq: 5 }),
  isExpired: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  /** Null: none is named, if the route has it in the query. */
  tenant: fc.option(fc.constantFrom(...TENANTS), { freq: 8 }),
})

const anyWorld = fc.record({
  route: fc.oneof(
    { weight: 1, arbitrary: anyRoute },
    { weight: 9, arbitrary: anyRoute.map(sound) },
  ),
  read: fc.boolean(),
  source: fc.constantFrom('lists', 'function'),
  asked: fc.array(anyAsked, { minLength: 4, maxLength: 12 }),
})

type Arbitrated<A> = A extends fc.Arbitrary<infer T> ? T : never
type Route = Arbitrated<typeof anyRoute>
type Asked = Arbitrated<typeof anyAsked>
type World = Arbitrated<typeof anyWorld>

/** The route without what contradicts the rest of it. */
function sound(route: Route): Route {
  const guests = route.guests && !route.open
  const isForAll = guests ? { require: null, checks: [] } : route.open ? { require: null } : {}
  const isInQuery = route.place === 'query' || route.place === 'optional'
  const late = route.late && isInQuery && !guests && !route.open
  const suspended = route.suspended && route.place !== 'none'
  return { ...route, guests, ...isForAll, late, suspended }
}

/** What stops the boot. */
function isContradictory(route: Route): boolean {
  const { place, open, guests, late, suspended, require, checks } = route
  if (open && (guests || late || require !== null)) return true
  if (late && (guests || place === 'path' || place === 'none')) return true
  if (guests && (require !== null || checks.length > 0)) return true
  return suspended && place === 'none'
}

interface Verdict {
  readonly status: number
  /** Null: the handler runs. */
  readonly code: string | null
  /** The ids that a challenge names. */
  readonly scope?: string
  /** Whether the handler has a user. */
  readonly hasUser?: boolean
  /** Whether the handler sees that the tenant is suspended. */
  readonly seesSuspended?: boolean
}

const refused = (status: number, code: string, scope?: string): Verdict => ({
  status,
  code: `ERR_AUTH_${code}`,
  ...(scope !== undefined && { scope }),
})

/** The contract, row by row. The first row that fits decides. */
function expected({ route, read }: World, { method, user, isExpired, tenant }: Asked): Verdict {
  const isOfTenant = route.place !== 'none' && (route.place === 'path' || tenant !== null)
  const named = isOfTenant ? (tenant ?? 'known') : null
  const isSuspended = named === 'old'
  const isRead = read && method !== 'POST'
  const isServed = !isSuspended || route.suspended || isRead
  const isMember = named === null || user?.isSuperuser || user?.held[named] !== undefined
  const isGuest = route.guests && (user === null || !isMember)
  const guest: Verdict = { status: 200, code: null, hasUser: false, seesSuspended: false }

  const answer = route.checks.find((each) => each !== 'yes')
  const checked =
    answer === 'no'
      ? refused(403, 'NOT_PERMITTED')
      : answer === 'broken'
        ? refused(503, 'CHECK_UNAVAILABLE')
        : undefined

  if (route.open) {
    if (route.place === 'query' && tenant === null) return refused(400, 'TENANT_MISSING')
    if (named === 'gone' || !isServed) return refused(404, 'TENANT_UNKNOWN')
    return checked ?? guest
  }
  if (user !== null && isExpired) return refused(401, 'TOKEN_INVALID')
  if (user === null && !route.guests) return refused(401, 'TOKEN_MISSING')
  if (route.place === 'query' && tenant === null) return refused(400, 'TENANT_MISSING')
  if (!isGuest && !isMember) return refused(403, 'TENANT_FORBIDDEN')
  if (named === 'gone') return refused(404, 'TENANT_UNKNOWN')
  if (isGuest) return isServed ? guest : refused(404, 'TENANT_UNKNOWN')
  if (user === null) return assert.fail('who is no guest is a user')
  if (!isServed && !user.isSuperuser) return refused(403, 'TENANT_SUSPENDED')

  const literal = [...user.everywhere, ...(named === null ? [] : (user.held[named] ?? []))]
  const held = new Set(literal.flatMap((id) => STANDS_FOR[id] ?? []))
  const holds = (id: string) => user.isSuperuser || held.has(id)
  if (route.require !== null) {
    const { kind, ids } = route.require
    const by = 'by' in route.require ? route.require.by : undefined
    const asked = typeof by === 'number' ? ids.slice(0, by) : ids
    const isKnown = typeof by !== 'string'
    const isMet = isKnown && (kind === 'any' ? asked.some(holds) : asked.every(holds))
    if (!isMet) return refused(403, 'RESOURCE_MISSING', asked.join(' '))
  }
  return checked ?? { status: 200, code: null, hasUser: true, seesSuspended: isSuspended }
}

const CHECKS: NonNullable<AuthOptions['checks']> = {
  yes: () => true,
  no: async () => false,
  broken: () => {
    throw new Error('broken')
  },
}

function declarationOf(route: Route): RouteDeclaration {
  const { place, open, guests, late, suspended, require, checks } = route
  const tenant = ({ path: true, query: 'required', optional: 'optional', none: false } as const)[
    place
  ]
  return {
    tenant,
    ...(open && { noauth: true }),
    ...(guests && { guests }),
    ...(late && { late }),
    ...(suspended && { suspended }),
    ...(require !== null && { require: requirementOf(require) }),
    ...(checks.length > 0 && { check: checks }),
  }
}

function requirementOf(require: NonNullable<Route['require']>): RouteDeclaration['require'] {
  const { kind, ids } = require
  if (!('by' in require)) return kind === 'any' ? { any: ids } : ids
  const { by } = require
  return {
    among: ids,
    by: () => {
      if (by === 'throws') throw new Error('thrown')
      if (by === 'none') return []
      const asked = ids.slice(0, Number(by))
      return asked.length === 1 ? `${asked[0]}` : asked
    },
  }
}

async function applicationOf({ route, read, source }: World): Promise<FastifyInstance> {
  const app = Fastify()
  await app.register(
    tenantAuth,
    trusting({
      superuserResource: SUPERUSER,
      implies: IMPLIES,
      checks: CHECKS,
      ...(route.late && { resolveTenant: ({ query }) => Object(query).tenant ?? null }),
      suspendedTenants: read ? 'read' : 'refuse',
      tenants:
        source === 'lists'
          ? { ids: ['known'], suspended: ['old'] }
          : async (tenant) => (tenant === 'old' ? 'suspended' : tenant === 'known'),
    }),
  )
  app.route({
    method: ['GET', 'POST'],
    url: route.place === 'path' ? '/t/:tenant' : '/t',
    config: declarationOf(route),
    handler: async (request) => {
      const authorization = authorizationOf(request)
      return { hasUser: authorization !== null, seesSuspended: authorization?.suspended ?? false }
    },
  })
  return app
}

function urlOf({ place }: Route, tenant: Asked['tenant']): string {
  if (place === 'path') return `/t/${tenant ?? 'known'}`
  return tenant === null ? '/t' : `/t?tenant=${tenant}`
}

async function headersOf({ user, isExpired }: Asked) {
  if (user === null) return {}
  const { isSuperuser, everywhere, held } = user
  const resources = { ...held, '*': isSuperuser ? [SUPERUSER, ...everywhere] : everywhere }
  return authority.headers({ resources }, { expiresIn: isExpired ? -60 : 3600 })
}

async function verdictOn(app: FastifyInstance, world: World, asked: Asked): Promise<Verdict> {
  const { method, tenant } = asked
  const url = urlOf(world.route, tenant)
  const response = await app.inject({ method, url, headers: await headersOf(asked) })
  const { statusCode: status, headers } = response
  const scope = /scope="(.+?)"/.exec(`${headers['www-authenticate']}`)?.[1]
  const answer = method === 'HEAD' ? {} : response.json()
  const code = status === 200 ? null : answer.code
  const seen = status === 200 ? answer : scope === undefined ? {} : { scope }
  return { status, code, ...seen }
}

/** An answer to HEAD has no body. */
function visible(verdict: Verdict, { method }: Asked): object {
  if (method !== 'HEAD') return verdict
  const { status, scope } = verdict
  return { status, code: status === 200 ? null : undefined, ...(scope !== undefined && { scope }) }
}

const CODES = [
  'TOKEN_INVALID',
  'TOKEN_MISSING',
  'TENANT_MISSING',
  'TENANT_FORBIDDEN',
  'TENANT_UNKNOWN',
  'TENANT_SUSPENDED',
  'RESOURCE_MISSING',
  'NOT_PERMITTED',
  'CHECK_UNAVAILABLE',
].map((code) => `ERR_AUTH_${code}`)

test('each request to any everyday route gets the verdict of the contract', async (t) => {
  const tally: Record<string, number> = {}
  const count = (what: string) => {
    tally[what] = (tally[what] ?? 0) + 1
  }
  const property = fc.asyncProperty(anyWorld, async (world) => {
    const app = await applicationOf(world)
    try {
      if (isContradictory(world.route)) {
        count('refused boots')
        await assert.rejects(async () => app.ready(), { code: 'ERR_AUTH_ROUTE_INVALID' })
        return
      }
      for (const asked of world.asked) {
        const verdict = expected(world, asked)
        count(verdict.code ?? (verdict.hasUser ? 'admitted users' : 'admitted guests'))
        const seen = await verdictOn(app, world, asked)
        assert.deepEqual(seen, visible(verdict, asked), JSON.stringify(asked))
      }
    } finally {
      await app.close()
      // Node frees what was closed between its turns only.
      await setImmediate()
    }
  })
  await fc.assert(property, { seed: PROPERTY_SEED, numRuns: RUNS })
  t.diagnostic(`${RUNS} runs, PROPERTY_SEED=${PROPERTY_SEED} ${JSON.stringify(tally)}`)
  if (RUNS < 300) return
  for (const what of [...CODES, 'admitted users', 'admitted guests', 'refused boots']) {
    assert.ok(tally[what], `never ${what}: ${JSON.stringify(tally)}`)
  }
})
