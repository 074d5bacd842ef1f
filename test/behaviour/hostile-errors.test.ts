import assert from 'node:assert/strict'
import { test } from 'node:test'
import { denyList } from '../../lib/entrypoints/revocation/index.ts'
import tenantAuth from '../../lib/index.ts'
import { CALLBACKS } from '../helpers/app/callbacks.ts'
import { as, bareApp, guardedApp, trusting } from '../helpers/app/guarded-app.ts'
import { logLines } from '../helpers/app/log-lines.ts'
import { outcome } from '../helpers/app/refusals.ts'

function refuseAccess(): never {
  throw new RangeError('nobody may look at me')
}

/** An error some of whose members cannot be read. */
function unreadable(...names: string[]): Error {
  const hidden = names.map((name) => [name, { get: refuseAccess, configurable: true }])
  return Object.defineProperties(new Error('no soup'), Object.fromEntries(hidden))
}

const TRAPS: ProxyHandler<Error> = { get: refuseAccess, has: refuseAccess }

/** What a function of the application may throw. */
const THROWN: readonly [what: string, error: unknown][] = [
  ['an error whose code cannot be read', unreadable('code')],
  ['an error of which nothing can be read', unreadable('code', 'name', 'message', 'cause')],
  [
    'an error that cannot even be asked for its class',
    new Proxy(new Error(), {
      ...TRAPS,
      getPrototypeOf: refuseAccess,
    }),
  ],
  ['an error whose name is no string', Object.defineProperty(new Error(), 'name', { value: 1n })],
  ['an object without a prototype', Object.create(null)],
]

/** But for that of issuers, which are not trusted then. */
const FUNCTIONS: typeof CALLBACKS = [
  ...CALLBACKS.filter(([name]) => name !== 'issuers'),
  [
    'changes',
    (changes) => ({ isRevoked: denyList({ changes }) }),
    '503 ERR_AUTH_REVOCATION_UNAVAILABLE',
  ],
]

/** The two ways in which a function of the application fails. */
const WAYS: readonly [how: string, failing: (error: unknown) => () => never][] = [
  [
    'throws',
    (error) => () => {
      throw error
    },
  ],
  ['rejects with', (error) => () => Promise.reject(error) as never],
]

for (const [what, error] of THROWN) {
  for (const [name, optionsOf, expected, headers] of FUNCTIONS) {
    for (const [how, failing] of WAYS) {
      test(`${name} that ${how} ${what} refuses the request, and the process lives`, async (t) => {
        const app = await guardedApp(t, optionsOf(failing(error)))
        app.get('/orders', { config: { tenant: true } }, async () => 'ok')
        const url = '/orders?tenant=lazy-raccoon'
        assert.equal(outcome(await app.inject({ url, headers: headers ?? (await as()) })), expected)
        // Node reports a rejection that nobody handles after the turn.
        await new Promise(setImmediate)
      })
    }
  }
}

for (const [what, error] of THROWN) {
  test(`a deny list whose changes fail later with ${what} logs a line`, async (t) => {
    const log = logLines()
    let isFailing = false
    const changes = async () => {
      if (isFailing) throw error
      return { entries: [], cursor: 1 }
    }
    const isRevoked = denyList({ changes })
    const app = await guardedApp(t, { isRevoked }, { logger: log.logger })
    await isRevoked.ready()
    isFailing = true
    isRevoked.wake()
    await assert.rejects(isRevoked.ready(), { code: 'ERR_AUTH_REVOCATION_UNAVAILABLE' })
    assert.equal(log.lines('the deny list cannot be read').length, 1)
    await app.close()
  })
}

for (const [what, error] of THROWN) {
  test(`an issuers function that fails with ${what} is an outage of that issuer`, async (t) => {
    const app = bareApp(t)
    await app.register(tenantAuth, { issuers: async () => Promise.reject(error) })
    app.get('/me', async () => 'ok')
    const answer = await app.inject({ url: '/me', headers: await as() })
    assert.equal(outcome(answer), '503 ERR_AUTH_ISSUERS_UNAVAILABLE')
    assert.equal(app.authService.stats().documents.length <= 1, true)
  })
}

for (const [what, error] of THROWN) {
  test(`a handler that throws ${what} is answered by the application as without a guard`, async (t) => {
    const answers: string[] = []
    for (const app of [bareApp(t), await guardedApp(t)]) {
      app.setErrorHandler((_error, _request, reply) => reply.code(500).send('no soup'))
      app.get('/fail', async () => Promise.reject(error))
      const { statusCode, body } = await app.inject({ url: '/fail', headers: await as() })
      answers.push(`${statusCode} ${body}`)
    }
    assert.equal(answers[1], answers[0])
  })
}

const REFUSED = '403 ERR_AUTH_RESOURCE_MISSING'

for (const [what, error] of THROWN) {
  test(`a function of require that throws ${what} refuses as one that throws any other`, async (t) => {
    const log = logLines()
    const app = await guardedApp(t, {}, { logger: log.logger })
    const by = () => {
      throw error
    }
    app.get('/:tenant', { config: { require: { by, among: ['a:b'] } } }, async () => 'ok')
    const headers = await as({ acme: ['a:b'] })
    assert.equal(outcome(await app.inject({ url: '/acme', headers })), REFUSED)
    assert.equal(log.lines('require.by failed').length, 1)
  })
}

for (const [what, error] of THROWN) {
  for (const [how, failing] of WAYS) {
    test(`a check that ${how} ${what} is an outage, and the log says why`, async (t) => {
      const log = logLines()
      const app = await guardedApp(t, { checks: { own: failing(error) } }, { logger: log.logger })
      app.get('/:tenant', { config: { check: 'own' } }, async () => 'ok')
      const response = await app.inject({ url: '/acme', headers: await as({ acme: [] }) })
      assert.equal(outcome(response), '503 ERR_AUTH_CHECK_UNAVAILABLE')
      const found = log.lines('the check own failed').map(({ level }) => level)
      assert.deepEqual(found, [40, 20])
    })
  }
}

test('a logger that throws changes no decision', async (t) => {
  const app = bareApp(t, { logger: logLines().logger })
  app.addHook('onRequest', async (request) => {
    Object.assign(request.log, { debug: refuseAccess, error: refuseAccess })
  })
  await app.register(tenantAuth, trusting())
  const by = () => 'c:d'
  app.get('/by/:tenant', { config: { require: { by, among: ['a:b'] } } }, async () => 'ok')
  app.get('/guests/:tenant', { config: { guests: true } }, async () => 'ok')
  const headers = await as({ acme: ['a:b'] })
  assert.equal(outcome(await app.inject({ url: '/by/acme', headers })), REFUSED)
  assert.equal(outcome(await app.inject({ url: '/guests/other', headers })), '200')
})
