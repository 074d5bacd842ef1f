import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { FastifyServerOptions } from 'fastify'
import tenantAuth, {
  type AuthOptions,
  type ResourceMetadataOptions,
  resourceMetadata,
} from '../../lib/index.ts'
import { configError } from '../helpers/app/config-error.ts'
import { bareApp } from '../helpers/app/guarded-app.ts'
import { logLines } from '../helpers/app/log-lines.ts'
import { neverAnswering } from '../helpers/app/never-answering.ts'
import { rawRequest } from '../helpers/app/raw-request.ts'
import { outcome } from '../helpers/app/refusals.ts'

const resource = 'https://api.test/:tenant/mcp'
const documentOf = (name: string) =>
  `/.well-known/oauth-protected-resource/${encodeURIComponent(name)}/mcp`
const publicKeysUrl = 'http://127.0.0.1:9/keys'
const own = { issuer: 'https://login.test', publicKeysUrl, tenants: '*' } as const
const acme = { issuer: 'https://acme.test', publicKeysUrl, tenants: ['acme', 'acme-test'] }
const staff = { issuer: 'https://staff.test', publicKeysUrl, tenants: ['acme', 'brook'] }
const INVALID = '400 ERR_AUTH_TENANT_INVALID'
const UNAVAILABLE = '503 ERR_AUTH_ISSUERS_UNAVAILABLE'

async function start(
  t: TestContext,
  options: AuthOptions,
  metadata: object = {},
  server: FastifyServerOptions = {},
) {
  const app = bareApp(t, server)
  await app.register(tenantAuth, { resource, ...options })
  await app.register(resourceMetadata, { ...metadata })
  return app
}

/** Issuers, options of the documents, and the servers that those of `acme` and of nobody name. */
const SERVERS: readonly [
  what: string,
  issuers: NonNullable<AuthOptions['issuers']>,
  options: ResourceMetadataOptions,
  ofAcme: string[] | undefined,
  ofNobody: string[] | undefined,
][] = [
  ['one of all tenants', [own], {}, [own.issuer], [own.issuer]],
  ['its own first', [own, acme], {}, [acme.issuer, own.issuer], [own.issuer]],
  ['two of its own', [acme, staff], {}, [acme.issuer, staff.issuer], undefined],
  ['a single pinned one', [acme], {}, [acme.issuer], undefined],
  [
    'that of another tenant',
    [own, { ...staff, tenants: ['brook'] }],
    {},
    [own.issuer],
    [own.issuer],
  ],
  ['none that is pinned', [own, acme], { publishIssuers: false }, [own.issuer], [own.issuer]],
  ['none at all', [acme], { publishIssuers: false }, undefined, undefined],
  ['pinned ones that are published', [acme], { publishIssuers: true }, [acme.issuer], undefined],
  [
    'those of a function',
    () => null,
    { issuersOf: (name) => [`https://${name}`] },
    ['https://acme'],
    ['https://nobody'],
  ],
  [
    'those of a later answer',
    () => null,
    { issuersOf: async () => ['a', 'b'] },
    ['a', 'b'],
    ['a', 'b'],
  ],
  ['no server of a function', () => null, { issuersOf: () => [] }, undefined, undefined],
]

for (const [what, issuers, options, ofAcme, ofNobody] of SERVERS) {
  test(`the document of a tenant names ${what}`, async (t) => {
    const app = await start(t, { issuers }, { scopes: ['menu:read'], ...options })
    for (const [name, servers] of [
      ['acme', ofAcme],
      ['nobody', ofNobody],
    ] as const) {
      const response = await app.inject(documentOf(name))
      assert.match(String(response.headers['content-type']), /^application\/json\b/)
      assert.deepEqual(response.json(), {
        resource: `https://api.test/${name}/mcp`,
        ...(servers && { authorization_servers: servers }),
        scopes_supported: ['menu:read'],
        bearer_methods_supported: ['header'],
      })
    }
  })
}

test('a name that is no tenant gets what a tenant without an issuer of its own gets', async (t) => {
  let isAsked = false
  const tenants = (name: string) => {
    isAsked = true
    return name === 'known'
  }
  const app = await start(t, { issuers: [own, acme], tenants })
  const [known, unknown] = await Promise.all(
    ['known', 'unheard'].map(async (name) => {
      const { statusCode, headers, body } = await app.inject(documentOf(name))
      const { date: _, 'content-length': __, ...rest } = headers
      return [statusCode, rest, body.replaceAll(name, 'NAME')]
    }),
  )
  assert.deepEqual(known, unknown)
  assert.equal(isAsked, false)
})

/** Paths of a document as they are sent, and the answers. */
const PATHS: readonly [path: string, answer: string][] = [
  ['acme/mcp', 'https://api.test/acme/mcp'],
  ['%61cme/mcp', 'https://api.test/acme/mcp'],
  ['ACME/mcp', 'https://api.test/ACME/mcp'],
  ['caf%C3%A9/mcp', 'https://api.test/caf%C3%A9/mcp'],
  ['a%2Fb/mcp', 'https://api.test/a%2Fb/mcp'],
  ['a%252Fb/mcp', 'https://api.test/a%252Fb/mcp'],
  ['a:b@c/mcp', 'https://api.test/a%3Ab%40c/mcp'],
  [':tenant/mcp', 'https://api.test/%3Atenant/mcp'],
  ['%252e/mcp', 'https://api.test/%252e/mcp'],
  ['"/mcp', 'https://api.test/%22/mcp'],
  ['./mcp', '404'],
  ['../mcp', '404'],
  ['%2e%2e/mcp', '404'],
  ['%2E/mcp', '404'],
  ['*/mcp', INVALID],
  ['%2A/mcp', INVALID],
  ['/mcp', INVALID],
  ['%00/mcp', INVALID],
  ['a%0d%0ab/mcp', INVALID],
  ['%ED%A0%80/mcp', '400 FST_ERR_BAD_URL'],
  [`${'a'.repeat(256)}/mcp`, INVALID],
  ['acme/mcp/', '404'],
  ['acme', '404'],
  ['mcp', '404'],
]

for (const [path, answer] of PATHS) {
  test(`GET …/oauth-protected-resource/${path.slice(0, 30)} is answered with ${answer}`, async (t) => {
    const app = await start(t, { issuers: [own] }, {}, { routerOptions: { maxParamLength: 999 } })
    await app.listen({ host: '127.0.0.1', port: 0 })
    const line = `GET /.well-known/oauth-protected-resource/${path} HTTP/1.1`
    const [head = '', body = ''] = (
      await rawRequest(app, line, 'host: a', 'connection: close')
    ).split('\r\n\r\n')
    const status = head.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length)
    const { resource: found, code } = JSON.parse(body)
    assert.equal(found ?? [status, code].filter(Boolean).join(' '), answer)
  })
}

/** Functions that give no answer, and parts of the reason. */
const FAILURES: readonly [what: string, issuersOf: () => unknown, reason: RegExp][] = [
  [
    'throws',
    () => {
      throw new Error('no database')
    },
    /^issuersOf failed \(Error\)$/,
  ],
  ['rejects', () => Promise.reject(new Error('x')), /^issuersOf failed/],
  ['is late', () => new Promise(() => {}), /^issuersOf is late$/],
  ['gives a text', () => 'https://a.test', /^issuersOf gave no usable answer/],
  ['gives null', () => null, /^issuersOf gave no usable answer/],
  ['gives a list of other things', () => [own.issuer, 7], /^issuersOf gave no usable/],
  ['gives a hole', () => new Array(1), /^issuersOf gave no usable answer/],
  ['gives an empty text', () => [''], /^issuersOf gave no usable answer/],
  ['gives a text of two words', () => ['a b'], /^issuersOf gave no usable answer/],
]

for (const [what, issuersOf, reason] of FAILURES) {
  test(`an issuersOf that ${what} is 503, and one line`, async (t) => {
    const { logger, lines } = logLines('warn')
    const options = { issuers: () => null, tenantsTimeout: 0.05 }
    const app = await start(t, options, { issuersOf }, { logger })
    const response = await app.inject(documentOf('acme'))
    assert.equal(outcome(response), UNAVAILABLE)
    const shown = [response.headers['retry-after'], response.headers['cache-control']]
    assert.deepEqual(shown, ['1', 'no-store'])
    assert.equal(lines('tenant auth: issuersOf').length, 1)
    assert.match(String(lines('request refused')[0]?.['reason']), reason)
  })
}

test('issuersOf is late after tenantsTimeout, and no earlier', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { ask: issuersOf, isAsked } = neverAnswering()
  const { logger, lines } = logLines('warn')
  const options = { issuers: () => null, tenantsTimeout: 7 }
  const app = await start(t, options, { issuersOf }, { logger })
  const asked = app.inject(documentOf('acme'))
  await isAsked
  t.mock.timers.tick(6900)
  await new Promise(setImmediate)
  assert.deepEqual(lines('issuersOf is late'), [])
  t.mock.timers.tick(100)
  assert.equal(outcome(await asked), UNAVAILABLE)
  assert.equal(lines('issuersOf is late').length, 1)
})

test('issuersOf is asked for valid names only, once by requests together, and not in dev mode', async (t) => {
  const asked: string[] = []
  const issuersOf = async (name: string) => {
    asked.push(name)
    return [own.issuer]
  }
  const options = { issuers: () => null }
  const app = await start(t, options, { issuersOf })
  await Promise.all(['acme', 'acme', '*', 'brook'].map((name) => app.inject(documentOf(name))))
  assert.deepEqual(asked.sort(), ['acme', 'brook'])
  const dev = await start(t, { ...options, devMode: true }, { issuersOf })
  const document = (await dev.inject(documentOf('acme'))).json()
  const shown = [document.resource, document.authorization_servers]
  assert.deepEqual(shown, ['https://api.test/acme/mcp', undefined])
  assert.equal(asked.length, 2)
})

test('strangers ask issuersOf at most 16 things at once, and closing ends what they wait for', async (t) => {
  let open = 0
  const app = await start(
    t,
    { issuers: () => null },
    {
      issuersOf: () => {
        open += 1
        return new Promise(() => {})
      },
    },
  )
  const all = Array.from({ length: 40 }, (_, index) => app.inject(documentOf(`t${index}`)))
  await app.inject(documentOf('*'))
  assert.equal(open, 16)
  await app.close()
  for (const response of await Promise.all(all)) assert.equal(outcome(response), UNAVAILABLE)
  assert.equal(open, 16)
})

test('a change of the list that issuersOf gave changes no document', async (t) => {
  const servers = [own.issuer]
  const app = await start(t, { issuers: () => null }, { issuersOf: () => servers })
  const before = (await app.inject(documentOf('acme'))).json()
  assert.deepEqual(before.authorization_servers, [own.issuer])
  assert.equal(Object.isFrozen(servers), false)
})

const asked = { resource, issuers: () => null }
const NEEDS = 'a function in issuers and an address for each tenant beside it'

/** Options that do not fit each other. */
const BAD: readonly [what: string, options: AuthOptions, metadata: object, reported: string][] = [
  ['a function without issuersOf', asked, {}, 'issuersOf: expected a function, found none'],
  [
    'issuersOf beside a list',
    { resource, issuers: [own] },
    { issuersOf: () => [] },
    `issuersOf: expected ${NEEDS}`,
  ],
  [
    'issuersOf beside one address',
    { ...asked, resource: 'https://api.test/mcp' },
    { issuersOf: () => [] },
    `issuersOf: expected ${NEEDS}`,
  ],
  [
    'issuersOf that is no function',
    asked,
    { issuersOf: [own.issuer] },
    'issuersOf: expected a function',
  ],
  ['issuersOf that is missing', asked, { issuersOf: undefined }, 'issuersOf: expected a function'],
  [
    'publishIssuers beside a function',
    asked,
    { issuersOf: () => [], publishIssuers: false },
    'publishIssuers: expected a list of issuers beside it, found a function',
  ],
  [
    'publishIssuers that is no boolean',
    { resource, issuers: [own] },
    { publishIssuers: 'no' },
    'publishIssuers: expected a boolean',
  ],
]

describe('at boot', () => {
  for (const [what, options, metadata, reported] of BAD) {
    test(`${what} is refused`, async (t) => {
      const app = bareApp(t)
      await app.register(tenantAuth, options)
      app.register(resourceMetadata, { ...metadata })
      await assert.rejects(async () => app.ready(), configError(reported))
    })
  }

  test('one line warns where no document names a server', async (t) => {
    for (const [publishIssuers, count] of [
      [false, 1],
      [true, 0],
    ] as const) {
      const { logger, lines } = logLines('warn')
      await start(t, { issuers: [acme] }, { publishIssuers }, { logger })
      assert.equal(lines('names no authorization server').length, count)
    }
  })

  test('nothing warns of an audience that is not configured', async (t) => {
    const { logger, lines } = logLines('warn')
    await start(t, { issuer: own.issuer, publicKeysUrl }, {}, { logger })
    assert.equal(lines('audience').length, 0)
  })

  test('the one document without segments hides a pinned issuer, too', async (t) => {
    const options = { resource: 'https://api.test/mcp', issuers: [acme] }
    const app = await start(t, options, { publishIssuers: false })
    const document = (await app.inject('/.well-known/oauth-protected-resource/mcp')).json()
    assert.equal(document.authorization_servers, undefined)
  })
})
