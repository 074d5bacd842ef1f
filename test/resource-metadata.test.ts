import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import swagger from '@fastify/swagger'
import type { FastifyInstance, FastifyServerOptions } from 'fastify'
import tenantAuth, {
  type AuthOptions,
  type ResourceMetadataOptions,
  resourceMetadata,
} from '../lib/index.ts'
import { configError } from './helpers/app/config-error.ts'
import { bareApp } from './helpers/app/guarded-app.ts'
import { logLines } from './helpers/app/log-lines.ts'

const resource = 'https://api.test/mcp'
const PATH = '/.well-known/oauth-protected-resource/mcp'
const issuer = 'https://login.test'
const publicKeysUrl = 'http://127.0.0.1:9/keys'
const one: AuthOptions = { issuer, publicKeysUrl, resource }

const acme = { issuer: 'https://acme.test', publicKeysUrl, tenants: ['acme'] }
const brook = { issuer: 'https://brook.test', publicKeysUrl, tenants: ['brook'] }
const own = { issuer, publicKeysUrl, tenants: '*' } as const
const other = { issuer: 'https://other.test', publicKeysUrl, tenants: '*' } as const

/** A guarded application that has the document. */
async function documenting(
  t: TestContext,
  options: AuthOptions = one,
  own: ResourceMetadataOptions = {},
  server: FastifyServerOptions = {},
) {
  const app = bareApp(t, server)
  await app.register(tenantAuth, options)
  await app.register(resourceMetadata, own)
  return app
}

/** Options of the guard, and the authorization servers that the document names. */
const ISSUERS: readonly [what: string, options: AuthOptions, servers: string[] | undefined][] = [
  ['one issuer', one, [issuer]],
  ['several in issuer', { ...one, issuer: [issuer, 'https://b.test'] }, [issuer, 'https://b.test']],
  ['issuers of all tenants', { resource, issuers: [own, other] }, [issuer, other.issuer]],
  ['an issuer of all tenants beside a pinned one', { resource, issuers: [acme, own] }, [issuer]],
  ['a single pinned issuer', { resource, issuers: [acme] }, [acme.issuer]],
  ['pinned issuers only', { resource, issuers: [acme, brook] }, undefined],
  ['a function', { resource, issuers: () => null }, undefined],
  ['dev mode', { ...one, devMode: true }, undefined],
]

for (const [what, options, servers] of ISSUERS) {
  test(`the document names the authorization servers of ${what}`, async (t) => {
    const { logger, lines } = logLines('warn')
    const app = await documenting(t, options, {}, { logger })
    const response = await app.inject(PATH)
    assert.equal(response.statusCode, 200)
    assert.match(String(response.headers['content-type']), /^application\/json\b/)
    assert.deepEqual(response.json(), {
      resource,
      ...(servers && { authorization_servers: servers }),
      bearer_methods_supported: ['header'],
    })
    const isWarned = servers === undefined && !options.devMode
    assert.equal(lines('names no authorization server').length, isWarned ? 1 : 0)
  })
}

/** Resources, and the url of the document. */
const URLS = [
  ['https://api.test', '/.well-known/oauth-protected-resource'],
  ['https://api.test/a/b', '/.well-known/oauth-protected-resource/a/b'],
  ['https://api.test/a:tenants', '/.well-known/oauth-protected-resource/a:tenants'],
  ["https://api.test/a;b=(c),d!$&'+@~", "/.well-known/oauth-protected-resource/a;b=(c),d!$&'+@~"],
] as const

for (const [address, url] of URLS) {
  test(`the document of ${address} is at ${url}, and at no other path`, async (t) => {
    const app = await documenting(t, { ...one, resource: address })
    const response = await app.inject(url)
    assert.equal(response.json().resource, address)
    const head = await app.inject({ method: 'HEAD', url })
    assert.equal(head.statusCode, 200)
    assert.equal(head.body, '')
    assert.equal(head.headers['content-length'], response.headers['content-length'])
    for (const beside of [`${url}x`, '/.well-known/oauth-protected-resource/x']) {
      assert.equal((await app.inject(beside)).statusCode, 404)
    }
    assert.equal((await app.inject({ method: 'POST', url })).statusCode, 404)
  })
}

/** Scopes that may be given. */
const SCOPES = [['menu:read'], ['menu:read', 'openid', "!#'()*+,-./:;<=>?@[]^_`{|}~"]]

for (const scopes of SCOPES) {
  test(`the document names the scopes ${scopes.join(' ')}`, async (t) => {
    const app = await documenting(t, one, { scopes })
    assert.deepEqual((await app.inject(PATH)).json().scopes_supported, scopes)
  })
}

/** Options that stop the boot, and parts of the message. */
const BAD_OPTIONS: readonly [options: object, ...reported: string[]][] = [
  [{ scopes: [] }, 'scopes: expected a list of different scopes', 'found []'],
  [{ scopes: ['a', 'b', 'a'] }, 'found ["a", "b", "a"]'],
  [{ scopes: [''] }, 'found [""]'],
  [{ scopes: ['a b'] }, 'found ["a b"]'],
  [{ scopes: ['a"'] }, 'scopes: expected'],
  [{ scopes: ['a\\'] }, 'scopes: expected'],
  [{ scopes: ['a\n'] }, 'scopes: expected'],
  [{ scopes: ['é'] }, 'scopes: expected'],
  [{ scopes: [7] }, 'found [7]'],
  [{ scopes: new Array(1) }, 'scopes: expected'],
  [{ scopes: 'menu:read' }, 'found "menu:read"'],
  [{ scopes: new Set(['a']) }, 'found an object'],
  [{ scopes: undefined }, 'found undefined'],
  [{ scopes: null }, 'found null'],
  [{ scope: ['a'] }, 'scope: expected scopes', 'did you mean scopes?'],
]

for (const [options, ...reported] of BAD_OPTIONS) {
  test(`the option ${JSON.stringify(options)} stops the boot`, async (t) => {
    const app = bareApp(t)
    await app.register(tenantAuth, one)
    app.register(resourceMetadata, { ...options })
    await assert.rejects(async () => app.ready(), configError(...reported))
  })
}

test('what register itself takes is no option of the document', async (t) => {
  const app = bareApp(t)
  await app.register(tenantAuth, one)
  await app.register(resourceMetadata, { logLevel: 'warn', logSerializers: {}, prefix: '' })
  assert.equal((await app.inject(PATH)).statusCode, 200)
})

/** Places where the document cannot be, and parts of the message. */
const PLACES: readonly [
  what: string,
  register: (app: FastifyInstance) => void,
  ...reported: string[],
][] = [
  [
    'without a guard',
    (app) => app.register(resourceMetadata),
    'expected a scope that is guarded already, found no guard',
  ],
  [
    'before the guard',
    (app) => {
      app.register(resourceMetadata)
      app.register(tenantAuth, one)
    },
    'found no guard',
  ],
  [
    'beside the guarded scope',
    (app) => {
      app.register(async (scope) => void (await scope.register(tenantAuth, one)))
      app.register(resourceMetadata)
    },
    'found no guard',
  ],
  [
    'beside something else that is called authService',
    (app) => {
      for (const value of ['x', null, {}]) {
        app.register(async (scope) => {
          Reflect.set(scope, 'authService', value)
          scope.register(resourceMetadata)
        })
      }
    },
    'found no guard',
  ],
  [
    'beside a guard without a resource',
    (app) => {
      app.register(tenantAuth, { issuer, publicKeysUrl })
      app.register(resourceMetadata)
    },
    'expected the option resource of the guard, found none',
  ],
  [
    'with a prefix',
    (app) => {
      app.register(tenantAuth, one)
      app.register(resourceMetadata, { prefix: '/api' })
    },
    'expected a scope without a prefix, found "/api"',
  ],
  [
    'in a scope with a prefix',
    (app) => {
      app.register(tenantAuth, one)
      app.register(async (scope) => scope.register(resourceMetadata), { prefix: '/api' })
    },
    'expected a scope without a prefix, found "/api"',
    'the routes that have a prefix in a scope below',
  ],
]

for (const [what, register, ...reported] of PLACES) {
  test(`registered ${what} it stops the boot`, async (t) => {
    const app = bareApp(t)
    register(app)
    await assert.rejects(async () => app.ready(), configError('resourceMetadata: ', ...reported))
  })
}

describe('the route of the document', () => {
  test('is listed as open, with its HEAD twin', async (t) => {
    const app = await documenting(t)
    await app.ready()
    const listed = app.authService.routes()
    assert.deepEqual(
      listed.map(({ method, url, noauth, seen }) => ({ method, url, noauth, seen })),
      ['GET', 'HEAD'].map((method) => ({ method, url: PATH, noauth: true, seen: true })),
    )
  })

  test('has no HEAD twin where the application wants none', async (t) => {
    const app = await documenting(t, one, {}, { exposeHeadRoutes: false })
    assert.equal((await app.inject({ method: 'HEAD', url: PATH })).statusCode, 404)
  })

  test('is open in an OpenAPI document', async (t) => {
    const app = bareApp(t)
    await app.register(swagger, {
      openapi: {},
      transformObject: (given) =>
        'openapiObject' in given
          ? app.authService.openapi(given.openapiObject)
          : given.swaggerObject,
    })
    await app.register(tenantAuth, one)
    await app.register(resourceMetadata)
    await app.ready()
    const document: unknown = app.swagger()
    const { paths } = Object(document)
    assert.deepEqual(paths[PATH].get.security, [])
  })

  test('is refused twice', async (t) => {
    const app = bareApp(t)
    await app.register(tenantAuth, one)
    app.register(resourceMetadata)
    app.register(resourceMetadata)
    await assert.rejects(async () => app.ready(), { code: 'FST_ERR_DUPLICATED_ROUTE' })
  })
})
