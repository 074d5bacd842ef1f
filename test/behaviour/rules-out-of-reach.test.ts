import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { type AuthOptions, refusalOf } from '../../lib/index.ts'
import { as, authority, guardedApp } from '../helpers/app/guarded-app.ts'
import { outcome } from '../helpers/app/refusals.ts'

/**
 * Refusals of each kind that knows what was expected, and a change that would let the request
 * through.
 */
const REFUSALS: readonly {
  readonly what: string
  readonly options?: AuthOptions
  readonly headers: () => Promise<{ authorization: string }>
  readonly url?: string
  readonly wanted: string
  readonly refused: string
}[] = [
  {
    what: 'another issuer',
    headers: () => authority.headers({}, { issuer: 'https://evil.test' }),
    wanted: 'https://evil.test',
    refused: '401 ERR_AUTH_TOKEN_INVALID',
  },
  {
    what: 'another issuer than those of a list',
    options: { issuer: ['https://authority.test', 'https://b.test'] },
    headers: () => authority.headers({}, { issuer: 'https://evil.test' }),
    wanted: 'https://evil.test',
    refused: '401 ERR_AUTH_TOKEN_INVALID',
  },
  {
    what: 'another audience',
    headers: () => authority.headers({}, { audience: 'other' }),
    wanted: 'other',
    refused: '401 ERR_AUTH_TOKEN_INVALID',
  },
  {
    what: 'an unknown key',
    headers: () => authority.headers({}, { header: { kid: 'other' } }),
    wanted: 'other',
    refused: '401 ERR_AUTH_TOKEN_INVALID',
  },
  {
    what: 'another algorithm',
    options: { algorithms: ['RS256'] },
    headers: () => authority.headers(),
    wanted: 'ES256',
    refused: '401 ERR_AUTH_TOKEN_INVALID',
  },
  {
    what: 'another type',
    headers: () => authority.headers({}, { header: { typ: 'x+jwt' } }),
    wanted: 'application/x+jwt',
    refused: '401 ERR_AUTH_TOKEN_INVALID',
  },
  {
    what: 'a missing resource',
    url: '/needs',
    headers: () => as({ '*': ['menu:read'] }),
    wanted: 'order:erase',
    refused: '403 ERR_AUTH_RESOURCE_MISSING',
  },
  {
    what: 'a foreign tenant',
    url: '/ghost/x',
    headers: () => as({ '*': ['menu:read'] }),
    wanted: 'ghost',
    refused: '403 ERR_AUTH_TENANT_FORBIDDEN',
  },
]

for (const { what, options, headers, url = '/x', wanted, refused } of REFUSALS) {
  test(`a refusal for ${what} hands out nothing that changes the next verdicts`, async (t) => {
    const app = await guardedApp(t, options)
    const held: unknown[] = []
    app.addHook('onError', async (request, _reply, error) => {
      held.push(error, refusalOf(request))
    })
    app.get('/x', async () => 'x')
    app.get('/:tenant/x', async () => 'x')
    app.get('/needs', { config: { require: 'order:erase' } }, async () => 'x')
    const bad = { url, headers: await headers() }
    const good = { url: '/x', headers: await as() }
    const ask = async () => [outcome(await app.inject(bad)), outcome(await app.inject(good))]
    const before = await ask()
    assert.equal(before[0], refused)
    assert.ok(held.length >= 2, 'the refusal was seen')
    const seen = spoil([...held], wanted)
    assert.ok(seen > 5, `${seen} things were in reach`)
    assert.deepEqual(await ask(), before)
  })
}

test('the list of routes hands out no requirement that can be changed', async (t) => {
  const app = await guardedApp(t)
  app.get('/all', { config: { require: ['order:erase', 'order:read'] } }, async () => 'x')
  app.get('/any', { config: { require: { any: ['order:erase'] } } }, async () => 'x')
  await app.ready()
  spoil(app.authService.routes(), 'menu:read')
  const headers = await as({ '*': ['menu:read'] })
  assert.deepEqual(await statuses(app, ['/all', '/any'], headers), [403, 403])
})

async function statuses(app: FastifyInstance, urls: string[], headers: { authorization: string }) {
  const responses = await Promise.all(urls.map((url) => app.inject({ url, headers })))
  return responses.map(({ statusCode }) => statusCode)
}

/** Adds a text to all that can be reached from a value, by any name, getter or iterator. */
function spoil(value: unknown, text: string, seen = new Set<unknown>()): number {
  if (typeof value !== 'object' || value === null || seen.has(value)) return seen.size
  seen.add(value)
  const within = [...membersOf(value), ...itemsOf(value)]
  for (const change of CHANGES) {
    try {
      change(value, text)
    } catch {
      // This object is frozen, or of another kind.
    }
  }
  for (const each of within) spoil(each, text, seen)
  return seen.size
}

/** The values of all properties, including those of its class. */
function membersOf(object: object): unknown[] {
  const values: unknown[] = []
  let holder: object | null = object
  while (holder !== null && !BUILT_IN.has(holder)) {
    values.push(...Reflect.ownKeys(holder).map((name) => Reflect.get(object, name)))
    holder = Reflect.getPrototypeOf(holder)
  }
  return values
}

const BUILT_IN = new Set<object>(
  [Object, Array, Set, Map, Date, Error].map(({ prototype }) => prototype),
)

function itemsOf(object: object): unknown[] {
  const iterate: unknown = Reflect.get(object, Symbol.iterator)
  return typeof iterate === 'function' ? [...Reflect.apply(iterate, object, [])] : []
}

const CHANGES: readonly ((value: object, text: string) => unknown)[] = [
  (value, text) => Reflect.apply(Array.prototype.push, value, [text]),
  (value, text) => Reflect.apply(Set.prototype.add, value, [text]),
  (value, text) => Reflect.apply(Map.prototype.set, value, [text, []]),
  (value, text) => Object.assign(value, { [text]: [text] }),
  (value, text) => {
    for (const name of Object.keys(value)) Reflect.set(value, name, text)
  },
]
