import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { TestTokenOptions, TestUserInfo } from '../../lib/entrypoints/testing/index.ts'
import tenantAuth, { errors } from '../../lib/index.ts'
import { as, authority, bareApp, guardedApp, trusting } from '../helpers/app/guarded-app.ts'
import { logLines } from '../helpers/app/log-lines.ts'
import { assertRefused } from '../helpers/app/refusals.ts'
import { tempFolder } from '../helpers/documents/temp-folder.ts'
import { until } from '../helpers/processes/until.ts'
import { encode } from '../helpers/tokens/forge.ts'

const folder = tempFolder()

test('a realm with quotes and backslashes is escaped', async (t) => {
  const app = await guardedApp(t, { realm: 'the "api" of a\\b, x="y"' })
  app.get('/x', async () => 'never')
  const quoted = 'Bearer realm="the \\"api\\" of a\\\\b, x=\\"y\\""'
  const missing = await app.inject('/x')
  assert.equal(missing.headers['www-authenticate'], quoted)
  const headers = await authority.headers({}, { expiresIn: -60 })
  const expired = await app.inject({ url: '/x', headers })
  assert.equal(expired.headers['www-authenticate'], `${quoted}, error="invalid_token"`)
})

test('the scope of a challenge names the required ids, in their order', async (t) => {
  const app = await guardedApp(t)
  app.get(
    '/x',
    { config: { require: { any: ['b:c', 'a:b', "!#'()*+,-./:;<=>?@[]^_`{|}~:~"] } } },
    async () => 'never',
  )
  const response = await app.inject({ url: '/x', headers: await authority.headers() })
  assertRefused(response, 'ERR_AUTH_RESOURCE_MISSING', "b:c a:b !#'()*+,-./:;<=>?@[]^_`{|}~:~")
})

/**
 * Ids that a handler requires, and the scope of the challenge. The scope names resource ids only.
 */
const SCOPES: readonly [ids: string[], scope: string | undefined][] = [
  [['order:erase'], 'order:erase'],
  [['order:erase', 'order:read'], 'order:erase order:read'],
  [['order:erase', 'x"', 'a b:c', 'a:b\r\nset-cookie: x', ''], 'order:erase'],
  [['bücher:read'], undefined],
  [['junk"'], undefined],
  [[], undefined],
]

for (const [ids, scope] of SCOPES) {
  test(`the challenge of ${JSON.stringify(ids)} names the scope ${scope}`, async (t) => {
    const app = await guardedApp(t)
    const config = { authorization: true } as const
    app.get('/x', { config }, async ({ authorization }) => authorization.require(...ids))
    const response = await app.inject({ url: '/x', headers: await as() })
    assertRefused(response, 'ERR_AUTH_RESOURCE_MISSING', scope)
  })
}

test('a handler that requires what is no list gets a challenge without a scope', async (t) => {
  const app = await guardedApp(t)
  app.get('/x', { config: { noauth: true } }, async () => {
    throw Reflect.construct(errors.ERR_AUTH_RESOURCE_MISSING, ['order:erase'])
  })
  assertRefused(await app.inject('/x'), 'ERR_AUTH_RESOURCE_MISSING', undefined)
})

test('an error of other code gets no header, and no line of a refusal', async (t) => {
  const { logger, lines } = logLines()
  const app = await guardedApp(t, {}, { logger })
  app.get('/x', async () => {
    throw Object.assign(new RangeError('on purpose'), { challenge: null, retryAfter: null })
  })
  const response = await app.inject({ url: '/x', headers: await as() })
  assert.deepEqual([response.statusCode, response.headers['cache-control']], [500, undefined])
  assert.deepEqual(lines('request refused'), [])
})

test('an error that is ours to mend is a warning in the log', async (t) => {
  const { logger, lines } = logLines()
  const app = await guardedApp(t, {}, { logger })
  app.get('/x', { config: { noauth: true } }, async () => {
    throw new errors.ERR_AUTH_CONFIG_INVALID('on purpose')
  })
  assert.equal((await app.inject('/x')).statusCode, 500)
  const seen = lines('request refused').map(({ level, code }) => [level, code])
  assert.deepEqual(seen, [[40, 'ERR_AUTH_CONFIG_INVALID']])
})

/** Seconds until the next attempt, and what Retry-After says (RFC 9110 §10.2.3). */
for (const [seconds, header] of [
  [0, '1'],
  [-5, '1'],
  [0.2, '1'],
  [1, '1'],
  [1.2, '2'],
  [30, '30'],
] as const) {
  test(`Retry-After of ${seconds} s is ${header}`, async (t) => {
    const app = await guardedApp(t)
    app.get('/x', { config: { noauth: true } }, async () => {
      throw new errors.ERR_AUTH_KEYS_UNAVAILABLE(seconds)
    })
    const { headers } = await app.inject('/x')
    assert.deepEqual([headers['retry-after'], headers['www-authenticate']], [header, undefined])
  })
}

test('caches do not store a refusal, and the answer to an admitted request is not touched', async (t) => {
  const app = await guardedApp(t)
  app.get('/x', async () => 'x')
  assert.equal((await app.inject('/x')).headers['cache-control'], 'no-store')
  const seen = (await app.inject({ method: 'HEAD', url: '/x' })).headers['cache-control']
  assert.equal(seen, 'no-store')
  const admitted = await app.inject({ url: '/x', headers: await as() })
  assert.equal(admitted.headers['cache-control'], undefined)
})

test('the log says in one line what was refused, where, and for which tenant', async (t) => {
  const { logger, lines } = logLines()
  const app = await guardedApp(t, {}, { logger })
  const config = { require: ['a:b', 'c:d'] }
  app.get('/:tenant/x', { config }, async () => 'never')
  app.get('/y', { config: { authorization: true } }, async ({ authorization }) => {
    authorization.in('lazy-raccoon').require('e:f')
  })
  await app.inject('/%00/x')
  await app.inject('/lazy-raccoon/x')
  const headers = await as()
  await app.inject({ url: '/lazy-raccoon/x', headers })
  await app.inject({ url: '/y', headers })
  assert.deepEqual(
    lines('request refused').map(({ level, time, pid, hostname, reqId, msg, ...line }) => line),
    [
      {
        code: 'ERR_AUTH_TOKEN_MISSING',
        reason: 'no bearer token',
        method: 'GET',
        route: '/:tenant/x',
      },
      {
        code: 'ERR_AUTH_TOKEN_MISSING',
        reason: 'no bearer token',
        method: 'GET',
        route: '/:tenant/x',
        tenant: 'lazy-raccoon',
      },
      {
        code: 'ERR_AUTH_RESOURCE_MISSING',
        reason: 'a required resource is missing',
        method: 'GET',
        route: '/:tenant/x',
        tenant: 'lazy-raccoon',
        required: ['a:b', 'c:d'],
      },
      {
        code: 'ERR_AUTH_RESOURCE_MISSING',
        reason: 'a required resource is missing',
        method: 'GET',
        route: '/y',
        required: ['e:f'],
      },
    ],
  )
})

for (const [options, url, place] of [
  [{}, '/q', 'query ?tenant='],
  [{}, '/q?tenant=*', 'query ?tenant='],
  [{ tenantQuery: 'org' }, '/q?org=a&org=b', 'query ?org='],
  [{ tenantParameter: 'org' }, '/p/', 'path segment :org'],
  [{ tenantParameter: 'org' }, '/p/%00', 'path segment :org'],
  [{ resolveTenant: () => null }, '/q?tenant=lazy-raccoon', 'resolveTenant'],
  [{}, '/in', undefined],
  [{}, '/open', undefined],
] as const) {
  test(`the log line of a 400 of ${url} names the place: ${place}`, async (t) => {
    const { logger, lines } = logLines()
    const app = await guardedApp(t, options, { logger })
    app.get('/q', { config: { tenant: true } }, async () => 'never')
    app.get('/p/:org?', { config: { tenant: 'tenantParameter' in options } }, async () => 'never')
    app.get('/in', { config: { authorization: true } }, async ({ authorization }) => {
      authorization.in('*')
    })
    app.get('/open', { config: { noauth: true } }, async () => {
      throw new errors.ERR_AUTH_TENANT_INVALID()
    })
    assert.equal((await app.inject({ url, headers: await as() })).statusCode, 400)
    const places = lines('request refused').map((line) => line['place'])
    assert.deepEqual(places, [place])
  })
}

test('the first line about a token that is refused for a reason names the doctor, above level debug', async (t) => {
  for (const [level, hints] of [
    [
      'info',
      [/doctor --issuer ISSUER --audience AUDIENCE --token - .* level debug/, /^$/, /doctor/, /^$/],
    ],
    ['debug', [/^$/, /^$/, /^$/, /^$/]],
  ] as const) {
    const { logger, lines } = logLines(level)
    const app = await guardedApp(t, {}, { logger })
    app.get('/x', async () => 'never')
    const expired = await authority.headers({}, { expiresIn: -60 })
    const foreign = await authority.headers({}, { issuer: 'other' })
    for (const headers of [expired, expired, foreign, {}]) await app.inject({ url: '/x', headers })
    for (const [index, line] of lines('request refused').entries()) {
      assert.match(String(line['hint'] ?? ''), hints[index] ?? /never/)
    }
  }
})

test('a hint names the INI file that is used, and none is given where the doctor cannot know', async (t) => {
  const { logger, lines } = logLines('info')
  const configFile = folder.write('[auth]\nrealm = notes\n')
  const isRevoked = (user: { sub: string }) => user.sub === 'gone'
  const tokenFrom = () => {
    throw new Error('a defect')
  }
  const app = await guardedApp(t, { configFile, isRevoked, tokenFrom }, { logger })
  app.get('/x', async () => 'never')
  const gone = await authority.headers({ sub: 'gone' })
  const expired = await authority.headers({}, { expiresIn: -60 })
  for (const headers of [gone, {}, { authorization: 'Bearer' }, expired]) {
    await app.inject({ url: '/x', headers })
  }
  const hints = lines('request refused').map(({ reason, hint }) => [reason, hint !== undefined])
  assert.deepEqual(hints, [
    ['revoked', false],
    ['tokenFrom failed', false],
    ['the header names the scheme and no token', false],
    ['expired', true],
  ])
  assert.ok(
    String(lines('request refused')[3]?.['hint']).includes(`doctor ${configFile} --`),
    'it is named',
  )
})

test('an application that invents reasons gets a hundred hints', async (t) => {
  const { logger, lines } = logLines('info')
  const app = await guardedApp(t, {}, { logger })
  let count = 0
  app.get('/x', { config: { noauth: true } }, async () => {
    throw new errors.ERR_AUTH_TOKEN_INVALID(`reason ${count++}`)
  })
  for (let i = 0; i < 102; i++) await app.inject('/x')
  const hinted = lines('request refused').filter(({ hint }) => hint !== undefined)
  assert.equal(hinted.length, 100)
})

const KID = 'fastify-tenant-auth-test-1'
const LONG = 'x'.repeat(2000)
const SELF = '"https://authority.test"'
const EVIL = 'https://evil.test/\u001b[2J\u009b\u202e'
const APIS = '"api" or "web"'
const TYPES = '"application/jwt" or "application/at+jwt" or nothing'

/** What is wrong with a token, and what the log shows of it at level debug. */
const MISMATCHES: readonly [
  what: string,
  user: TestUserInfo,
  options: TestTokenOptions,
  of: string,
  expected: string,
  unverified: string,
][] = [
  [
    'another issuer',
    {},
    { issuer: EVIL },
    'iss',
    SELF,
    '"https://evil.test/\\u001b[2J\\u009b\\u202e"',
  ],
  ['no issuer', {}, { issuer: undefined }, 'iss', SELF, 'nothing'],
  ['several audiences', {}, { audience: ['a', 'b'] }, 'aud', APIS, '["a", "b"]'],
  ['a long audience', {}, { audience: LONG }, 'aud', APIS, `"${'x'.repeat(96)}...`],
  ['an audience of another type', { aud: { deep: [] } }, {}, 'aud', APIS, 'a value of type object'],
  ['an audience that is null', { aud: null }, {}, 'aud', APIS, 'null'],
  ['an unknown key', {}, { header: { kid: 'other' } }, 'kid', `"${KID}"`, '"other"'],
  ['another type', {}, { header: { typ: 'logout+jwt' } }, 'typ', TYPES, '"logout+jwt"'],
]

const EXPECTING = { audience: ['api', 'web'], algorithms: ['ES256', 'RS256'] }

/** What the log shows of a refused token, at each level. */
async function assertMismatch(t: TestContext, token: string, mismatch: object): Promise<void> {
  for (const level of ['trace', 'debug', 'info']) {
    const { logger, lines, raw } = logLines(level)
    const app = await guardedApp(t, EXPECTING, { logger })
    app.get('/x', async () => 'never')
    const headers = { authorization: `Bearer ${token}` }
    assertRefused(await app.inject({ url: '/x', headers }), 'ERR_AUTH_TOKEN_INVALID')
    const [line, ...more] = lines('request refused')
    assert.deepEqual(line?.['mismatch'], level === 'info' ? undefined : mismatch)
    assert.deepEqual(more, [])
    assert.doesNotMatch(raw.join(''), /[^\n -~]/)
  }
}

for (const [what, user, options, of, expected, unverified] of MISMATCHES) {
  test(`of a token with ${what} the log shows what was expected and found, at level debug only`, async (t) => {
    await assertMismatch(t, await authority.token(user, options), { of, expected, unverified })
  })
}

test('of a token without a signature the log shows the algorithms, at level debug only', async (t) => {
  const mismatch = { of: 'alg', expected: '"ES256" or "RS256"', unverified: '"none"' }
  await assertMismatch(t, `${encode({ alg: 'none' })}.e30.`, mismatch)
})

test('a logger with levels of its own is asked whether it takes debug', async (t) => {
  const { logger, lines } = logLines('silly')
  const withSilly = Object.assign(logger, { customLevels: { silly: 5 } })
  const app = await guardedApp(t, {}, { logger: withSilly })
  app.get('/x', async () => 'never')
  await app.inject({ url: '/x', headers: await authority.headers({}, { issuer: 'other' }) })
  assert.notEqual(lines('request refused')[0]?.['mismatch'], undefined)
})

test('a logger of the application’s own is asked for its level', async (t) => {
  for (const level of ['trace', 'debug', 'info']) {
    const reported: object[] = []
    const nothing = () => {}
    const loggerInstance = {
      level,
      fatal: nothing,
      error: nothing,
      warn: nothing,
      info: (line: object) => void reported.push(line),
      debug: nothing,
      trace: nothing,
      silent: nothing,
      child: () => loggerInstance,
    }
    const app = await guardedApp(t, {}, { loggerInstance })
    app.get('/x', async () => 'never')
    const headers = await authority.headers({}, { issuer: 'other' })
    assertRefused(await app.inject({ url: '/x', headers }), 'ERR_AUTH_TOKEN_INVALID')
    const refusal = reported.find((line) => 'code' in line)
    const shown = refusal !== undefined && 'mismatch' in refusal && refusal.mismatch !== undefined
    assert.equal(shown, level !== 'info', level)
  }
})

const resource = 'https://api.test/mcp'
const METADATA = 'resource_metadata="https://api.test/.well-known/oauth-protected-resource/mcp"'

/** The challenge of a refused request; the app has a `resource`. */
async function challengeOf(app: FastifyInstance, url: string, headers: object = {}) {
  const response = await app.inject({ url, headers: { ...headers } })
  return response.headers['www-authenticate']
}

describe('the challenge of an API with a resource', () => {
  test('names its metadata, in each 401 and 403', async (t) => {
    const app = await guardedApp(t, { resource })
    app.get('/x', { config: { tenant: true, require: 'a:b' } }, async () => 'never')
    const expired = await authority.headers({}, { expiresIn: -60 })
    const missing = `Bearer realm="api", scope="a:b", ${METADATA}`
    assert.equal(await challengeOf(app, '/x'), missing)
    const seen = await challengeOf(app, '/x', expired)
    assert.equal(seen, `Bearer realm="api", error="invalid_token", scope="a:b", ${METADATA}`)
    const actual = await challengeOf(app, '/x?tenant=busy-beaver', await as())
    assert.equal(actual, `Bearer realm="api", error="insufficient_scope", ${METADATA}`)
    assert.equal(
      await challengeOf(app, '/x?tenant=lazy-raccoon', await as()),
      `Bearer realm="api", error="insufficient_scope", scope="a:b", ${METADATA}`,
    )
    const head = await app.inject({ method: 'HEAD', url: '/x' })
    assert.equal(head.headers['www-authenticate'], missing)
  })

  test('is none where other credentials would not help', async (t) => {
    const app = await guardedApp(t, { resource })
    app.get('/x', { config: { tenant: true } }, async () => 'never')
    assert.equal(await challengeOf(app, '/x', await as()), undefined)
    assert.equal(await challengeOf(app, '/none'), undefined)
    const { statusCode, headers } = await app.inject({ url: '/x', headers: await as() })
    assert.deepEqual([statusCode, headers['cache-control']], [400, 'no-store'])
  })

  test('names no text of a handler that is no resource id', async (t) => {
    const app = await guardedApp(t, { resource })
    const config = { authorization: true } as const
    app.get('/x', { config }, ({ authorization }) => authorization.require('a:b', 'c"', 'd e'))
    const seen = await challengeOf(app, '/x', await as())
    assert.equal(seen, `Bearer realm="api", error="insufficient_scope", scope="a:b", ${METADATA}`)
  })

  test('names its metadata in dev mode too', async (t) => {
    const options = { devMode: true, issuer: 'https://a.test', resource }
    const app = await guardedApp(t, options)
    app.get('/x', { config: { require: 'a:b' } }, async () => 'never')
    const challenge = `Bearer realm="api", error="insufficient_scope", scope="a:b", ${METADATA}`
    assert.equal(await challengeOf(app, '/x'), challenge)
  })

  test('keeps its quotes whole, whatever the realm is', async (t) => {
    const app = await guardedApp(t, { resource, realm: 'a", resource_metadata="b\\' })
    app.get('/x', async () => 'never')
    const realm = 'realm="a\\", resource_metadata=\\"b\\\\"'
    assert.equal(await challengeOf(app, '/x'), `Bearer ${realm}, ${METADATA}`)
  })
})

/** The requirement of a route, and the scope in the challenge for a stranger. */
const REQUIREMENTS = [
  ['nothing', undefined, ''],
  ['one id', 'a:b', ', scope="a:b"'],
  ['all of several', ['b:c', 'a:b'], ', scope="b:c a:b"'],
  ['any of several', { any: ['a:b', 'c:d'] }, ''],
] as const

for (const [what, require, scope] of REQUIREMENTS) {
  test(`the challenge for a stranger names the scope of a route that requires ${what}`, async (t) => {
    const app = await guardedApp(t, { resource })
    app.get('/x', { config: { require } }, async () => 'never')
    assert.equal(await challengeOf(app, '/x'), `Bearer realm="api"${scope}, ${METADATA}`)
  })

  test(`without a resource the challenge of a route that requires ${what} has no scope`, async (t) => {
    const app = await guardedApp(t)
    app.get('/x', { config: { require } }, async () => 'never')
    assert.equal(await challengeOf(app, '/x'), 'Bearer realm="api"')
  })
}

test('a 401 that the application throws itself names the scope of its route, if that has one', async (t) => {
  const app = await guardedApp(t, { resource })
  const refuse = async () => {
    throw new errors.ERR_AUTH_TOKEN_INVALID()
  }
  app.get('/own', { config: { require: 'menu:read' } }, refuse)
  app.get('/open', { config: { noauth: true } }, refuse)
  app.setNotFoundHandler(refuse)
  const challenge = 'Bearer realm="api", error="invalid_token"'
  const seen = await challengeOf(app, '/own', await as())
  assert.equal(seen, `${challenge}, scope="menu:read", ${METADATA}`)
  assert.equal(await challengeOf(app, '/open'), `${challenge}, ${METADATA}`)
  assert.equal(await challengeOf(app, '/none'), `${challenge}, ${METADATA}`)
})

test('a 401 of a hook before the guard has no scope', async (t) => {
  const app = bareApp(t)
  app.addHook('onRequest', async () => {
    throw new errors.ERR_AUTH_TOKEN_MISSING()
  })
  await app.register(tenantAuth, trusting({ resource }))
  app.get('/x', { config: { require: 'a:b' } }, async () => 'never')
  assert.equal(await challengeOf(app, '/x'), `Bearer realm="api", ${METADATA}`)
})

for (const [who, options, hook] of [
  ['handlerTimeout', { handlerTimeout: 20 }, undefined],
  ['a hook', {}, (reply: FastifyReply) => void setTimeout(() => reply.code(504).send('slow'), 20)],
] as const) {
  test(`a refusal that comes after the answer of ${who} is logged, and once`, async (t) => {
    const log = logLines()
    const app = bareApp(t, { logger: log.logger })
    let answer = (_: boolean): void => {}
    if (hook) app.addHook('onRequest', async (_request, reply) => hook(reply))
    const tenants = () => new Promise<boolean>((resolve) => (answer = resolve))
    await app.register(tenantAuth, trusting({ tenants }))
    app.get('/:tenant/x', { ...options, config: { tenant: true } }, async () => 'never')
    const response = await app.inject({ url: '/lazy-raccoon/x', headers: await as() })
    assert.equal(response.statusCode, hook ? 504 : 503)
    assert.deepEqual(log.lines('request refused'), [])
    answer(false)
    await until(() => log.lines('request refused').length > 0)
    const [line, ...more] = log.lines('request refused')
    assert.deepEqual([line?.['code'], more], ['ERR_AUTH_TENANT_UNKNOWN', []])
  })
}
