import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  type FastifyBaseLogger,
  type FastifyRequest,
  type FastifyServerOptions,
  LogController,
} from 'fastify'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import tenantAuth, { type AuthOptions } from '../../lib/index.ts'
import { as, authority, bareApp, guardedApp, trusting } from '../helpers/app/guarded-app.ts'
import { type LogLine, logLines } from '../helpers/app/log-lines.ts'
import { tempFolder } from '../helpers/documents/temp-folder.ts'
import { until } from '../helpers/processes/until.ts'

const ALL = ['tenant', 'sub', 'issuer'] as const
const ISSUER = authority.options.issuer
const folder = tempFolder()

/** The claims of a user, with values that no line may hold. */
const CLAIMS = { preferred_username: 'canary', email: 'canary', sub: 'dora' }

/** An application with a real pino log, and the lines that a request leaves there. */
async function logged(
  t: TestContext,
  options: AuthOptions,
  server: Omit<FastifyServerOptions, 'logger'> = {},
) {
  const log = logLines()
  const app = await guardedApp(t, options, { ...server, logger: log.logger })
  app.get('/x', async (request) => {
    request.log.info('in the handler, by the request')
    return 'x'
  })
  app.get('/:tenant/x', async (_request, reply) => {
    reply.log.info('in the handler, by the reply')
    return 'x'
  })
  app.get('/:tenant/broken', async () => {
    throw new Error('on purpose')
  })
  app.get('/:tenant/require', { config: { authorization: true } }, async ({ authorization }) =>
    authorization.require('a:b'),
  )
  app.get('/open', { config: { noauth: true } }, async () => 'x')
  const linesOf = async (url: string, headers: Record<string, string> = {}) => {
    log.raw.length = 0
    await app.inject({ url, headers })
    await until(() => log.lines('request completed').length === 1)
    return log.raw.map((line): LogLine => JSON.parse(line))
  }
  return { app, log, linesOf }
}

/** What the lines name, and how often each line names it. */
function named(lines: readonly LogLine[], raw: readonly string[]): unknown[] {
  return lines.map((line, index) => [
    line.msg,
    ...ALL.map((name) => line[name] ?? null),
    ALL.every((name) => (raw[index]?.split(`"${name}":`).length ?? 0) <= 2),
  ])
}

test('each line of an admitted request names what was asked for, once, and nothing else', async (t) => {
  const { linesOf, log } = await logged(t, { logBindings: ALL })
  const user = await as({ acme: [] }, CLAIMS)
  assert.deepEqual(named(await linesOf('/acme/x', user), log.raw), [
    ['incoming request', null, null, null, true],
    ['in the handler, by the reply', 'acme', 'dora', ISSUER, true],
    ['request completed', 'acme', 'dora', ISSUER, true],
  ])
  assert.deepEqual(named(await linesOf('/x', user), log.raw), [
    ['incoming request', null, null, null, true],
    ['in the handler, by the request', null, 'dora', ISSUER, true],
    ['request completed', null, 'dora', ISSUER, true],
  ])
  assert.equal(log.raw.join('').includes('canary'), false)
})

test('the lines of a refusal name what is known of it, once', async (t) => {
  const { linesOf, log } = await logged(t, { logBindings: ALL })
  const user = await as({ acme: [] }, CLAIMS)
  const refused = async (url: string, headers?: Record<string, string>) =>
    named((await linesOf(url, headers)).slice(1), log.raw.slice(1)).map((line) =>
      [line].flat().slice(1),
    )
  const lines = (...names: unknown[]) => Array.from({ length: 3 }, () => [...names, true])
  assert.deepEqual(await refused('/ghost/x', user), lines('ghost', 'dora', ISSUER))
  assert.deepEqual(await refused('/ghost/x'), lines('ghost', null, null))
  assert.deepEqual(await refused('/x'), lines(null, null, null))
  assert.deepEqual(await refused('/acme/require', user), lines('acme', 'dora', ISSUER))
  assert.equal(log.raw.join('').includes('canary'), false)
})

test('an error of a handler is logged with the bindings', async (t) => {
  const { linesOf } = await logged(t, { logBindings: ['sub'] })
  const lines = await linesOf('/acme/broken', await as({ acme: [] }, CLAIMS))
  const [failed] = lines.filter(({ msg }) => msg === 'on purpose')
  assert.deepEqual([failed?.level, failed?.['sub'], failed?.['tenant']], [50, 'dora', undefined])
  const refused = await linesOf('/ghost/x', await as({ acme: [] }, CLAIMS))
  const [line] = refused.filter(({ msg }) => msg === 'request refused')
  assert.deepEqual(
    [line?.['sub'], line?.['tenant']],
    ['dora', 'ghost'],
    'the refusal names its own',
  )
})

test('a line of a check, and of a hook before it, names the user, too, and each line once', async (t) => {
  const log = logLines()
  const own = (_: unknown, { log }: FastifyRequest) => {
    log.info('in the check')
    return true
  }
  const options = { logBindings: ALL, checks: { own } }
  const app = await guardedApp(t, options, { logger: log.logger })
  app.addHook('preValidation', async (request) => request.log.info('in a hook'))
  app.get('/:tenant/x', { config: { check: 'own' } }, async () => 'x')
  await app.inject({ url: '/test-tenant/x', headers: await as({ 'test-tenant': [] }, CLAIMS) })
  for (const message of ['in a hook', 'in the check']) {
    const lines = log.lines(message).map((line) => ALL.map((name) => line[name]))
    assert.deepEqual(lines, [['test-tenant', 'dora', ISSUER]], message)
  }
  const isNamedTwice = (line: string) => ALL.some((name) => line.split(`"${name}":`).length > 2)
  assert.deepEqual(log.raw.filter(isNamedTwice), [])
})

test('without the option no line names a user, and the refusal names the tenant as ever', async (t) => {
  const { linesOf, log } = await logged(t, {})
  const user = await as({ acme: [] }, CLAIMS)
  await linesOf('/acme/x', user)
  assert.equal(/"(?:tenant|sub|issuer)"/.test(log.raw.join('')), false)
  await linesOf('/ghost/x', user)
  const tenants = log.raw.map((line) => JSON.parse(line).tenant)
  assert.deepEqual(tenants, [undefined, 'ghost', undefined, undefined])
})

test('a noauth route and a url that no route matches name nobody', async (t) => {
  const { linesOf, log } = await logged(t, { logBindings: ALL })
  for (const url of ['/open', '/none/of/these']) {
    await linesOf(url, await as({ acme: [] }, CLAIMS))
    assert.equal(log.raw.join('').includes('dora'), false)
  }
})

test('only what is listed is named, also where the INI file lists it', async (t) => {
  const configFile = folder.write('[auth]\nlog_bindings = issuer, tenant\n')
  for (const options of [{ logBindings: ['tenant', 'issuer'] } as const, { configFile }]) {
    const { linesOf } = await logged(t, options)
    const [, , completed] = await linesOf('/acme/x', await as({ acme: [] }, CLAIMS))
    const found = ALL.map((name) => completed?.[name])
    assert.deepEqual(found, ['acme', undefined, ISSUER])
  }
})

test('values are those of the verified token, and control characters cannot break a line', async (t) => {
  const other = await createTestAuthority({ issuer: 'https://other.test' })
  const { linesOf, log } = await logged(t, { logBindings: ALL })
  const forged = await other.headers({ sub: 'mallory', resources: { acme: [] } })
  await linesOf('/acme/x', forged)
  assert.equal(log.raw.join('').includes('mallory'), false)
  const sub = 'a\n{"level":60}\u001b[2J\u2028"'
  const lines = await linesOf('/acme/x', await as({ acme: [] }, { sub }))
  assert.equal(lines.at(-1)?.['sub'], sub)
  const controls = /[\p{Cc}]/u
  const found = log.raw.filter((line) => controls.test(line.slice(0, -1)))
  assert.deepEqual(found, [])
})

test('a childLoggerFactory, disableRequestLogging and a log level of the route are kept', async (t) => {
  const logController = new LogController({ disableRequestLogging: true })
  const { app, log } = await logged(t, { logBindings: ALL }, { logController })
  app.get('/:tenant/quiet', { logLevel: 'error' }, async (request) => {
    request.log.warn('not written')
    return 'x'
  })
  app.setChildLoggerFactory((logger, bindings, options) =>
    logger.child({ ...bindings, service: 'menus' }, options),
  )
  app.get('/:tenant/made', async (request) => {
    request.log.info('made')
    return 'x'
  })
  const headers = await as({ acme: [] }, CLAIMS)
  for (const url of ['/acme/quiet', '/acme/made']) await app.inject({ url, headers })
  const lines = log.raw.map((line) => JSON.parse(line))
  assert.deepEqual(
    lines.filter(({ level }) => level < 40).map(({ msg, service, sub }) => [msg, service, sub]),
    [['made', 'menus', 'dora']],
  )
  assert.equal(log.raw.join('').includes('not written'), false)
})

/** Loggers that a hook of the application may have put in the place of Fastify's. */
const LOGGERS: readonly [what: string, child: (log: FastifyBaseLogger) => unknown][] = [
  ['whose child is no logger', () => undefined],
  ['whose child is another object', () => ({})],
  ['whose child has no error()', () => ({ info() {}, warn() {} })],
  ['whose child fails', () => assert.fail('on purpose')],
  ['that is its own child', (log) => log],
]

for (const [what, child] of LOGGERS) {
  test(`a logger ${what} stays, decides nothing, and the refusal still names the tenant`, async (t) => {
    const lines: unknown[] = []
    const app = bareApp(t)
    app.addHook('onRequest', async (request, reply) => {
      const own = Object.create(request.log)
      const log = Object.assign(own, {
        child: () => child(log),
        info: (line: object, msg: string) => void lines.push([msg, Reflect.get(line, 'tenant')]),
      })
      request.log = log
      reply.log = log
    })
    await app.register(tenantAuth, trusting({ logBindings: ALL, isRevoked: async () => false }))
    app.get('/:tenant/x', async () => 'x')
    const headers = await as({ acme: [] })
    assert.equal((await app.inject({ url: '/acme/x', headers })).statusCode, 200)
    assert.equal((await app.inject({ url: '/ghost/x', headers })).statusCode, 403)
    const refused = lines.filter((line) => [line].flat()[0] === 'request refused')
    assert.deepEqual(refused, [['request refused', 'ghost']])
  })
}

test('a log that cannot be replaced decides nothing, early or late', async (t) => {
  const app = bareApp(t)
  app.addHook('onRequest', async (request) => {
    const { log } = request
    Object.defineProperty(request, 'log', { get: () => log })
  })
  const isRevoked = async () => false
  await app.register(tenantAuth, trusting({ logBindings: ALL, isRevoked }))
  app.get('/:tenant/x', async () => 'x')
  const headers = await as({ acme: [] })
  assert.equal((await app.inject({ url: '/acme/x', headers })).statusCode, 200)
  assert.equal((await app.inject({ url: '/ghost/x', headers })).statusCode, 403)
  assert.equal((await app.inject({ url: '/ghost/x' })).statusCode, 401)
})

test('without a logger the option does no harm', async (t) => {
  const app = await guardedApp(t, { logBindings: ALL })
  app.get('/:tenant/x', async () => 'x')
  const headers = await as({ acme: [] })
  assert.equal((await app.inject({ url: '/acme/x', headers })).statusCode, 200)
  assert.equal((await app.inject({ url: '/ghost/x', headers })).statusCode, 403)
})
