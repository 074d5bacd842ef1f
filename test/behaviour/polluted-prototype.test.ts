import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { inspect } from 'node:util'
import Fastify, { type FastifyInstance } from 'fastify'
import { Rules } from '../../lib/config/issuer-schema.ts'
import { namesOf } from '../../lib/config/option-reader.ts'
import { Options } from '../../lib/config/options.ts'
import { introspection } from '../../lib/entrypoints/introspection/index.ts'
import { denyList } from '../../lib/entrypoints/revocation/index.ts'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import tenantAuth, { type AuthOptions, type TokenUser } from '../../lib/index.ts'
import { authority, RIGHTS } from '../helpers/app/guarded-app.ts'
import { outcome } from '../helpers/app/refusals.ts'
import { tempFolder } from '../helpers/documents/temp-folder.ts'
import { portOf } from '../helpers/servers/asked-server.ts'
import { CLIENT, introspectionServer } from '../helpers/servers/introspection-server.ts'

// Code that merges the JSON of others into objects writes into Object.prototype, from where each
// plain object has what it lacks itself. All names together would stop Fastify. So some are spoilt
// at a time, and fewer when the application does not boot or answers otherwise, down to one.
// `npm run test:deep` spoils them one by one.
const AT_ONCE = process.env['PROPERTY_RUNS'] === undefined ? 8 : 1

const EVIL_ISSUER = 'https://evil.test'
const evil = await createTestAuthority({ issuer: EVIL_ISSUER, audience: 'evil' })
const { publicKeys: evilKeys } = evil
const ADMIN = { sub: 'mallory', resources: { '*': ['order:erase'], 'lazy-raccoon': [] } }
const EVIL_RULES = { issuer: EVIL_ISSUER, tenants: '*', audience: 'evil', publicKeys: evilKeys }

/** What an attacker would write there. A name that is not among them gets those of `ANY`. */
const VALUES: ReadonlyMap<string, readonly unknown[]> = new Map<string, readonly unknown[]>([
  ['issuer', [EVIL_ISSUER, [EVIL_ISSUER]]],
  ['issuers', [[EVIL_RULES], () => EVIL_RULES]],
  ['publicKeys', [evilKeys]],
  ['keys', [evilKeys.keys]],
  ['audience', ['evil', ['api', 'evil']]],
  ['mapClaims', [() => ADMIN]],
  ['tenants', ['*', ['busy-badger', 'lazy-raccoon'], () => true]],
  ['algorithms', [['ES256', 'none', 'HS256']]],
  ['tokenTypes', [['at+jwt', 'evil']]],
  ['confirmation', ['ignore']],
  ['clockTolerance', [2_147_483]],
  ['superuserResource', ['menu:read']],
  ['resourcesOf', [() => ADMIN.resources]],
  ['isRevoked', [() => false]],
  ['tokenFrom', [() => 'opaque-of-alice']],
  ['opaqueToken', [() => ({ ...ADMIN, iss: EVIL_ISSUER, aud: 'evil', exp: 9_999_999_999 })]],
  ['resolveTenant', [() => 'lazy-raccoon']],
  ['require', ['menu:read', []]],
  ['tenant', ['lazy-raccoon', 'optional', true]],
  ['changes', [() => ({ entries: [], cursor: null })]],
  ['keptAt', [[1]]],
  ['maxStale', [2_147_483]],
  ['maxLifetime', [2_147_483, 1]],
  ['whenStale', ['admit']],
  ['issuedBefore', [new Date(0)]],
  ['until', [new Date(0), '2000-01-01T00:00:00.000Z']],
  ['sub', ['mallory']],
  ['iss', [authority.issuer]],
  ['aud', [authority.audience]],
  ['resources', [ADMIN.resources, true]],
  ['exp', [9_999_999_999]],
  ...['kty', 'kid', 'alg', 'crv', 'use', 'typ', 'name', 'format', 'pattern', 'const'].map(
    (name) => [name, ['evil']] as const,
  ),
  ['default', ['evil', ['evil'], () => ADMIN]],
  ['url', ['http://127.0.0.1:9/']],
])

const ANY = [true]

/** What is configured or declared, by the names of its members. */
const MEMBERS = [
  ...namesOf(Options.properties),
  ...namesOf(Rules.properties),
  ...['configFile', 'prefix', 'ids', 'name', 'scopes'],
  ...['noauth', 'tenant', 'userInfo', 'resources', 'authorization', 'require', 'any'],
  ...['jti', 'sid', 'sub', 'issuedBefore', 'until', 'entries', 'cursor'],
  ...['interval', 'maxStale', 'whenStale', 'maxLifetime', 'maxEntries', 'changes', 'append'],
  ...['url', 'clientId', 'clientSecret', 'privateKey', 'signed'],
]

/** The words of schemas, tokens and property descriptors. */
const WORDS = [
  ...['default', 'expected', 'format', 'pattern', 'const', 'anyOf', 'items', 'minItems'],
  ...['keys', 'kty', 'kid', 'alg', 'crv', 'use', 'key_ops', 'typ', 'crit', 'b64'],
  ...['iss', 'aud', 'exp', 'iat', 'nbf', 'cnf', 'act', 'active'],
  ...['get', 'set', 'value', 'then', 'writable', 'enumerable', 'configurable', 'toJSON'],
]

/** Read by Node's own fetch, of objects that nobody else can reach. */
const OF_FETCH = ['body', 'error', 'headers', 'signal']

/** Members that may be absent, of the types of all but tools, and whether they are functions. */
const OPTIONAL: ReadonlyMap<string, boolean> = new Map(
  readdirSync('lib', { recursive: true })
    .map(String)
    .filter((file) => file.endsWith('.ts') && !/^entrypoints\/(cli|testing)\//.test(file))
    .map((file) => readFileSync(join('lib', file), 'utf8'))
    .flatMap((text) => [...text.matchAll(/^ +(?:readonly )?(\w+)\?(\(|:.*=>)?.*[^,\n]$/gm)])
    .map(([, name = '', isFunction]) => [name, isFunction !== undefined] as const)
    .filter(([name]) => !OF_FETCH.includes(name)),
)

/** The requests of strangers, forgers and users. */
async function requestsOf(iss: string) {
  const user = { iss, sub: 'alice', resources: RIGHTS }
  const nobody = { iss, sub: 'bob' }
  const forgery = { ...ADMIN, iss, aud: authority.audience }
  const alice = await authority.token(user)
  const menu = '/lazy-raccoon/menu'
  const erase = '/lazy-raccoon/erase'
  const requests: readonly [url: string, token?: string][] = [
    [menu],
    ['/orders?tenant=lazy-raccoon'],
    ['/open'],
    [menu, alice],
    ['/orders?tenant=lazy-raccoon', alice],
    ['/orders', alice],
    ['/busy-badger/menu', alice],
    ['/orders?tenant=busy-badger', alice],
    [erase, alice],
    ['/lazy-raccoon/any', alice],
    ['/plain', await authority.token(nobody)],
    [erase, await evil.token(forgery)],
    [erase, await evil.token(ADMIN)],
    ['/plain', await authority.token({ ...user, aud: 'evil' })],
    ['/plain', await authority.token({ ...user, aud: undefined })],
    ['/plain', await authority.token({ ...user, iss: undefined })],
    ['/plain', await authority.token({ ...user, sub: '' })],
    ['/plain', await authority.token({ ...user, exp: undefined })],
    ['/plain', await authority.token(user, { header: { typ: 'evil' } })],
    ['/plain', await authority.token(user, { expiresIn: -600 })],
    ['/plain', await authority.token({ ...user, cnf: { jkt: 'x' } })],
    ['/plain', await authority.token({ ...user, sub: 'eve', jti: 'revoked' })],
    [menu, 'opaque-of-alice'],
    [menu, 'opaque-of-nobody'],
  ]
  return requests.map(([url, token]) => ({
    url,
    headers: headersOf(token),
  }))
}

/** Without a prototype, since `inject` sends what is inherited too. */
function headersOf(token: string | undefined): Record<string, string> {
  const headers: Record<string, string> = Object.create(null)
  if (token !== undefined) headers['authorization'] = `Bearer ${token}`
  return headers
}

interface Way {
  /** @default that of the authority */
  readonly iss?: string
  /** For each boot anew. */
  options(): AuthOptions | Promise<AuthOptions>
}

const folder = tempFolder()
const { issuer, audience } = authority
const pin = { tenants: ['lazy-raccoon', 'quiet-otter'] }

/** How the guard may be configured. */
const WAYS: readonly (readonly [string, (t: TestContext) => Way | Promise<Way>])[] = [
  ['the keys of one issuer', () => ({ options: () => authority.options })],
  [
    'discovery',
    async (t: TestContext) => {
      const { origin: iss } = await keyServer(t)
      return { iss, options: () => ({ issuer: iss, audience }) }
    },
  ],
  ['a list of issuers', () => ({ options: () => ({ issuers: [authority.issuerRules(pin)] }) })],
  [
    'a function for issuers',
    () => {
      const { issuer: _, ...rules } = authority.issuerRules(pin)
      const issuers = (asked: string) => (asked === issuer ? rules : null)
      return { options: () => ({ issuers }) }
    },
  ],
  [
    'an INI file that has the address of keys',
    async (t: TestContext) => {
      const { publicKeysUrl } = await keyServer(t)
      const rules = `issuer = ${issuer}\naudience = ${audience}\n`
      const keys = `public_keys_url = ${publicKeysUrl}\n`
      const configFile = folder.write(`[auth]\n${rules}${keys}`)
      return { options: () => ({ configFile }) }
    },
  ],
  [
    'an introspection endpoint',
    async (t: TestContext) => {
      const server = await introspectionServer(t)
      const rights = { sub: 'alice', aud: audience, resources: RIGHTS }
      server.active.set('opaque-of-alice', rights)
      const options = () => {
        const opaqueToken = introspection({ issuer: server.issuer, ...CLIENT })
        return { publicKeys: authority.publicKeys, issuer: server.issuer, audience, opaqueToken }
      }
      return { iss: server.issuer, options }
    },
  ],
  [
    'functions for tokens, rights and tenants',
    () => {
      const alice = { iss: issuer, sub: 'alice', aud: audience }
      const opaqueToken = async (token: string) => (token === 'opaque-of-alice' ? alice : null)
      const resourcesOf = async ({ sub }: TokenUser) => (sub === 'alice' ? RIGHTS : null)
      const functions = { opaqueToken, resourcesOf, tenants: async () => true }
      return { options: () => ({ ...authority.options, ...functions }) }
    },
  ],
  [
    'tenants at an address',
    async (t: TestContext) => {
      const { tenants } = await keyServer(t)
      return { options: () => ({ ...authority.options, tenants }) }
    },
  ],
  [
    'a deny list with changes',
    () => {
      const entries = [{ sub: 'eve', issuer }]
      const changes = async () => setImmediate({ entries, cursor: 1 })
      return {
        options: async () => {
          const isRevoked = denyList({ changes, maxStale: 2, interval: 1 })
          // A service that is never installed would keep no list.
          return { ...authority.options, isRevoked }
        },
      }
    },
  ],
  [
    'a deny list',
    () => ({
      options: async () => {
        const isRevoked = denyList()
        await isRevoked.add({ sub: 'eve', issuer })
        return { ...authority.options, isRevoked }
      },
    }),
  ],
]

/** Serves the keys of the authority, tenants, and metadata of which it is the issuer itself. */
async function keyServer(t: TestContext) {
  const server = createServer(({ url }, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(url === '/keys' ? keys : url === '/tenants' ? TENANTS : metadata)
  })
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const origin = `http://127.0.0.1:${await portOf(server)}`
  const keys = JSON.stringify(authority.publicKeys)
  const metadata = JSON.stringify({ issuer: origin, jwks_uri: `${origin}/keys` })
  return { origin, publicKeysUrl: `${origin}/keys`, tenants: `${origin}/tenants` }
}

const TENANTS = JSON.stringify(['lazy-raccoon', 'quiet-otter'])

/** What an application answers; one line where it does not boot. */
async function verdicts(
  { options }: Way,
  requests: Awaited<ReturnType<typeof requestsOf>>,
): Promise<string[]> {
  let app: FastifyInstance | undefined
  try {
    app = Fastify()
    await app.register(tenantAuth, await options())
    app.get('/open', { config: { noauth: true } }, async () => 'ok')
    app.get('/plain', async () => 'ok')
    app.get('/orders', { config: { tenant: 'required' } }, async (request) => request.tenant)
    app.get('/:tenant/menu', { config: { tenant: 'required' } }, async ({ tenant }) => tenant)
    app.get('/:tenant/erase', { config: { require: 'order:erase' } }, async () => 'ok')
    const config = { require: { any: ['order:erase', 'order:audit'] } }
    app.get('/:tenant/any', { config }, async () => 'ok')
    await app.ready()
  } catch (error) {
    await app?.close().catch(() => undefined)
    return [`no boot: ${error}`]
  }
  const said: string[] = []
  for (const { url, headers } of requests) {
    const response = await app.inject({ url, headers, query: '' })
    said.push(`${url}: ${outcome(response)} ${response.statusCode === 200 ? response.body : ''}`)
  }
  await app.close()
  return said
}

/** Between them they read keys, claims, metadata and answers. */
const WITH_WORDS = ['the keys of one issuer', 'an introspection endpoint']

for (const [name, way] of WAYS) {
  test(`With ${name} no member of Object.prototype changes a verdict`, async (t) => {
    const made = await way(t)
    const requests = await requestsOf(made.iss ?? issuer)
    const expected = await verdicts(made, requests)
    assert.ok(expected.length > 1, String(expected))
    const known = WITH_WORDS.includes(name) ? [...MEMBERS, ...WORDS] : MEMBERS
    const names = new Set([...known, ...OPTIONAL.keys()])
    const found = { boots: 0, wrong: Array.of<string>() }
    const judge = async (spoilt: readonly Spoilt[]): Promise<void> => {
      const heard = await whilePolluted(spoilt, () => verdicts(made, requests))
      const isBooted = heard.length > 1
      const differing = heard.filter((verdict, i) => verdict !== expected[i])
      if (isBooted && differing.length === 0) {
        found.boots += spoilt.length
      } else if (spoilt.length > 1) {
        const middle = Math.ceil(spoilt.length / 2)
        await judge(spoilt.slice(0, middle))
        await judge(spoilt.slice(middle))
      } else if (isBooted) {
        found.boots += 1
        found.wrong.push(...differing.map((verdict) => `${inspect(spoilt)}: ${verdict}`))
      }
    }
    for (const together of groupsOf(names)) await judge(together)
    assert.deepEqual(found.wrong, [])
    assert.ok(found.boots > names.size, `${found.boots} boots of ${names.size} names`)
  })
}

type Spoilt = readonly [name: string, value: unknown]

/** Names with their values, each name once in a group. */
function groupsOf(names: ReadonlySet<string>): Spoilt[][] {
  const rounds: Spoilt[][] = []
  for (const name of names) {
    const any = OPTIONAL.get(name) === true ? [() => true] : ANY
    for (const [round, value] of (VALUES.get(name) ?? any).entries()) {
      rounds[round] = [...(rounds[round] ?? []), [name, value]]
    }
  }
  return rounds.flatMap((round) =>
    Array.from({ length: Math.ceil(round.length / AT_ONCE) }, (_, i) =>
      round.slice(i * AT_ONCE, (i + 1) * AT_ONCE),
    ),
  )
}

async function whilePolluted<T>(spoilt: readonly Spoilt[], run: () => Promise<T>): Promise<T> {
  for (const [name, value] of spoilt) Reflect.set(Object.prototype, name, value)
  try {
    return await run()
  } finally {
    for (const [name] of spoilt) Reflect.deleteProperty(Object.prototype, name)
  }
}
