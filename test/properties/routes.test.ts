import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import Fastify, { type FastifyInstance, type InjectOptions } from 'fastify'
import {
  type AnyApplication,
  anyApplication,
  BuiltApplication,
  type Taken,
} from '../helpers/arbitraries/any-application.ts'
import { PROPERTY_RUNS, PROPERTY_SEED } from '../helpers/arbitraries/property.ts'

const RUNS = Math.ceil(PROPERTY_RUNS / 5)

// The package does not know the applications that are made before it is loaded.
const madeBefore = Array.from({ length: RUNS }, () => Fastify())
const { default: tenantAuth } = await import('../../lib/index.ts')
const { authority, trusting } = await import('../helpers/app/guarded-app.ts')

/** Seconds: longer than any run. */
const DAY = 86_400

const ALL = ['a:b', 'c:d', 'z:z']
const USERS: readonly [name: string, resources: Record<string, string[]> | null][] = [
  ['stranger', null],
  ['full', { '*': ALL, acme: [] }],
  ['weak', { '*': ['a:b'], acme: [] }],
  ['foreign', { '*': ALL, umbrella: [] }],
]
const users = await Promise.all(
  USERS.map(async ([name, resources]) => ({
    name,
    resources,
    headers: resources === null ? {} : await authority.headers({ resources }, { expiresIn: DAY }),
  })),
)

type User = (typeof users)[number]

/** What the contract says of a request, by what Fastify took of its route. */
function expected({ config, url }: Taken, { resources }: User, path: string): number {
  const { noauth, tenant: declared = false, require = false } = config
  // An early route that contradicts itself does not stop the boot, and stays closed. One has two
  // tenants, unless none counts.
  const segments = url.split('/').filter((part) => part === ':tenant')
  const hasSeveral = segments.length > 1 && !(noauth === true && declared === false)
  if (noauth === true && require === false && !hasSeveral) return 200
  if (resources === null) return 401
  const segment = url.split('/').lastIndexOf(':tenant')
  const isOfTenant = segment !== -1 || declared !== false
  const tenant = segment === -1 ? 'acme' : (path.split('/')[segment] ?? '')
  if (hasSeveral || (isOfTenant && !Object.hasOwn(resources, tenant))) return 403
  const isAny = typeof require === 'object' && require !== null && 'any' in require
  const ids: unknown[] = [isAny ? require.any : require].flat()
  const held = (id: unknown) => (resources['*'] ?? []).some((each) => each === id)
  if (require === false) return 200
  return ids.length > 0 && (isAny ? ids.some(held) : ids.every(held)) ? 200 : 403
}

function requestsFor(taken: readonly Taken[]): InjectOptions[] {
  const places = new Map(
    taken.flatMap(({ url, methods }) =>
      methods.flatMap((method) => [
        [`${method} ${url}`, { method, url }],
        [`${method} ${url} short`, { method, url: url.replace('/:id?', '') }],
      ]),
    ),
  )
  return [...places.values()].flatMap(({ method, url }) =>
    [{}, { 'accept-version': '1.x' }, { 'accept-version': '2.x' }, { host: 'h.test' }].map(
      (headers) => ({
        method: method as 'GET',
        url: `${url.replaceAll(':tenant', 'acme').replace(':id?', '7').replace('*', 'deep/x')}?tenant=acme`,
        headers,
      }),
    ),
  )
}

interface Tally {
  requests: number
  refusedBoots: number
  closed: number
}

async function play(app: FastifyInstance, program: AnyApplication, tally: Tally, isLate: boolean) {
  const twin = new BuiltApplication(Fastify(), { ...program, live: [] })
  const guarded = new BuiltApplication(app, program)
  try {
    await twin.build(async () => {})
    await twin.app.ready()
    await guarded.build(() => guarded.app.register(tenantAuth, trusting()))
    try {
      await guarded.app.ready()
    } catch (error) {
      assert.equal(Object(error).code, 'ERR_AUTH_ROUTE_INVALID')
      tally.refusedBoots += 1
      return
    }
    const urls = guarded.taken.map(({ url }) => url)
    const unguarded = twin.taken.map(({ url }) => url)
    // A hook that freezes a config stops other routes that share it. Copies are not shared.
    if (isLate && isFreezing(program) && urls.join() !== unguarded.join()) return
    assert.deepEqual(urls, unguarded)
    for (const request of requestsFor(twin.taken)) {
      await compare(request, { twin, guarded, program, tally, isLate })
    }
  } finally {
    await twin.app.close()
    await guarded.app.close()
    // Node frees what was closed between its turns only.
    await setImmediate()
  }
}

async function compare(
  request: InjectOptions,
  played: {
    twin: BuiltApplication
    guarded: BuiltApplication
    program: AnyApplication
    tally: Tally
    isLate: boolean
  },
): Promise<void> {
  const { twin, guarded, program, tally, isLate } = played
  const unguarded = await twin.app.inject(request).catch(() => undefined)
  // Fastify cannot serve a route that it refused after adding a part of it.
  if (unguarded === undefined) return
  const route = guarded.taken[Number(unguarded.headers['x-taken'])]
  for (const user of users) {
    const headers = { ...request.headers, ...user.headers }
    const response = await guarded.app.inject({ ...request, headers })
    const { statusCode, body } = response
    tally.requests += 1
    if (unguarded.statusCode !== 200) {
      assert.equal(statusCode, unguarded.statusCode, body)
      continue
    }
    if (route === undefined) throw new Error(`no route of ours has answered: ${body}`)
    const right = expected(route, user, String(request.url).replace(/\?.*/, ''))
    const what = `${request.method} ${request.url} ${JSON.stringify(request.headers)} as ${user.name}, of ${JSON.stringify(route)}`
    if (statusCode === 200) {
      assert.equal(response.headers['x-taken'], unguarded.headers['x-taken'], what)
    }
    if (statusCode === right) continue
    // Whoever changes a live config gets a closed route; an early route that is known by its
    // requests only has what is there at the first of them.
    const isChanged = program.live.length > 0 || (isLate && hasEarly(program))
    const found = isChanged && (statusCode === 401 || statusCode === 403 || isLate)
    assert.ok(found, `${statusCode}, not ${right}: ${what}`)
    tally.closed += 1
  }
}

function isFreezing(program: AnyApplication): boolean {
  return JSON.stringify(program).includes('freezes the config')
}

function hasEarly({ early, earlyScopes }: AnyApplication): boolean {
  return early.length + earlyScopes.length > 0
}

for (const isLate of [false, true]) {
  const when = isLate ? 'before' : 'after'
  test(`in any application that was made ${when} the package was loaded, each request is decided by what Fastify took of its route`, async (t) => {
    const tally = { requests: 0, refusedBoots: 0, closed: 0 }
    await fc.assert(
      fc.asyncProperty(anyApplication, async (program) => {
        const app = isLate ? madeBefore.pop() : Fastify()
        if (app !== undefined) await play(app, program, tally, isLate)
      }),
      { seed: PROPERTY_SEED, numRuns: RUNS, endOnFailure: isLate, includeErrorInReport: true },
    )
    t.diagnostic(`PROPERTY_SEED=${PROPERTY_SEED} ${JSON.stringify(tally)}`)
    assert.ok(tally.requests > RUNS * 10, JSON.stringify(tally))
    assert.ok(tally.refusedBoots < RUNS / 2, JSON.stringify(tally))
  })
}
