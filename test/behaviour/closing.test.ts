import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { type TestContext, test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { denyList } from '../../lib/entrypoints/revocation/index.ts'
import { AuthService } from '../../lib/index.ts'
import { CALLBACKS } from '../helpers/app/callbacks.ts'
import { as, authority, bareApp, trusting } from '../helpers/app/guarded-app.ts'
import { until } from '../helpers/processes/until.ts'
import { askedServer } from '../helpers/servers/asked-server.ts'
import { EntryLog } from '../helpers/servers/entry-log.ts'
import { KeyServer } from '../helpers/servers/key-server.ts'

/** Longer than the limit of a test: only closing can end these waits. */
const LONG = { keysTimeout: 30, tenantsTimeout: 30 }
const HANGS = { timeout: 15_000 }

const HEADERS = await as({ acme: [] })

/** A listening application on loopback, with a way to ask it. */
async function listening(
  t: TestContext,
  service: AuthService,
  addRoutes: (app: FastifyInstance) => void = () => {},
) {
  const app = bareApp(t)
  const arrived: string[] = []
  app.addHook('onRequest', async (request) => void arrived.push(request.url))
  await service.install(app)
  app.get('/:tenant/x', async () => 'x')
  app.get('/x', { config: { tenant: true } }, async () => 'x')
  addRoutes(app)
  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  const ask = (path: string, headers?: Record<string, string>) =>
    answerOf(`${address}${path}`, headers)
  return { app, arrived, ask }
}

/** A function of an application that answers when the test lets it, with a count of its calls. */
function hangingFunction() {
  const answers: ((value: boolean) => void)[] = []
  const ask = () => new Promise<boolean>((resolve) => void answers.push(resolve))
  return { ask, answers }
}

test('close() does not wait for keys that are not there', HANGS, async (t) => {
  const server = await askedServer(() => {})
  const app = await listening(t, new AuthService({ publicKeysUrl: server.url, ...LONG }))
  await assertEnded(app, 'ERR_AUTH_KEYS_UNAVAILABLE', app.ask('/acme/x'))
})

test('close() does not wait for a newer key set', HANGS, async (t) => {
  const server = await KeyServer.start(() => authority.publicKeys)
  t.after(() => server.close())
  const app = await listening(t, new AuthService({ publicKeysUrl: server.url, ...LONG }))
  assert.equal((await app.ask('/acme/x')).status, 200)
  await server.fail('no answer')
  const unknown = await authority.headers({ resources: { acme: [] } }, { header: { kid: 'x' } })
  const asked = app.ask('/acme/x', unknown)
  await until(() => app.arrived.length === 2)
  await assertEnded(app, 'ERR_AUTH_KEYS_UNAVAILABLE', asked)
})

test('close() does not wait for an entry that a handler stores', HANGS, async (t) => {
  const { changes } = new EntryLog()
  const appended: object[] = []
  const reasons: unknown[] = []
  const append = (entry: object) => new Promise<void>(() => void appended.push(entry))
  const isRevoked = denyList({ changes, append })
  const app = await listening(t, new AuthService(trusting({ isRevoked, ...LONG })), (app) => {
    app.get('/:tenant/log-out', async () =>
      isRevoked.add({ sub: 'alice' }).catch((error) => {
        reasons.push(error.reason)
        throw error
      }),
    )
  })
  await isRevoked.ready()
  const asked = app.ask('/acme/log-out')
  await until(() => appended.length === 1)
  await assertEnded(app, 'ERR_AUTH_REVOCATION_UNAVAILABLE', asked)
  assert.deepEqual(reasons, ['append failed (ended)'], 'it was not late')
  // A script may still add one, which is stored in its time.
  const adding = isRevoked.add({ sub: 'bob' }).catch(() => 'ended')
  await until(() => appended.length === 2)
  const later = new Promise(setImmediate).then(() => 'waits')
  assert.equal(await Promise.race([adding, later]), 'waits')
})

test('close() does not wait for a list of tenants', HANGS, async (t) => {
  const server = await askedServer(() => {})
  const app = await listening(t, new AuthService(trusting({ tenants: server.url, ...LONG })))
  await assertEnded(app, 'ERR_AUTH_TENANTS_UNAVAILABLE', app.ask('/acme/x'))
})

for (const [option, , outcome, headers] of CALLBACKS.slice(0, 6)) {
  test(`close() does not wait for the function ${option}`, HANGS, async (t) => {
    const options: object = { [option]: hangingFunction().ask, ...LONG }
    const service = new AuthService(option === 'issuers' ? options : trusting(options))
    const app = await listening(t, service)
    const path = option === 'resolveTenant' ? '/x' : '/acme/x'
    await assertEnded(app, outcome.slice('503 '.length), app.ask(path, headers))
  })
}

test(
  'requests of other applications of the service still wait for their keys',
  HANGS,
  async (t) => {
    const held: ServerResponse[] = []
    const server = await askedServer((_request, response) => held.push(response))
    const service = new AuthService({ publicKeysUrl: server.url, ...LONG })
    const one = await listening(t, service)
    const other = await listening(t, service)
    const waiting = other.ask('/acme/x')
    await until(() => other.arrived.length === 1)
    await assertEnded(one, 'ERR_AUTH_KEYS_UNAVAILABLE', one.ask('/acme/x'))
    assert.equal(held.length, 1)
    held[0]?.end(JSON.stringify(authority.publicKeys))
    assert.equal((await waiting).status, 200)
  },
)

test(
  'requests of other applications of the service still wait for the same answer',
  HANGS,
  async (t) => {
    const { ask: hang, answers } = hangingFunction()
    const service = new AuthService(trusting({ tenants: hang, ...LONG }))
    const one = await listening(t, service)
    const other = await listening(t, service)
    const waiting = other.ask('/acme/x')
    await until(() => other.arrived.length === 1)
    await assertEnded(one, 'ERR_AUTH_TENANTS_UNAVAILABLE', one.ask('/acme/x'))
    assert.equal(answers.length, 1)
    answers[0]?.(true)
    assert.equal((await waiting).status, 200)
  },
)

test('closing ends a request in an encapsulated scope too', HANGS, async (t) => {
  const server = await askedServer(() => {})
  const app = bareApp(t)
  const service = new AuthService({ publicKeysUrl: server.url, ...LONG })
  const arrived: string[] = []
  await app.register(async (scope) => {
    scope.addHook('onRequest', async (request) => void arrived.push(request.url))
    await service.install(scope)
    scope.get('/x', async () => 'x')
  })
  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  await assertEnded({ app, arrived }, 'ERR_AUTH_KEYS_UNAVAILABLE', answerOf(`${address}/x`))
})

interface Listening {
  readonly app: FastifyInstance
  /** The number of requests that have come to the guard. */
  readonly arrived: readonly string[]
}

/** Closes the application while the request waits. The request must end, with its 503. */
async function assertEnded(
  { app, arrived }: Listening,
  code: string,
  asked: ReturnType<typeof answerOf>,
): Promise<void> {
  await until(() => arrived.length > 0)
  await new Promise(setImmediate)
  await app.close()
  const { status, retry, body } = await asked
  assert.deepEqual([status, JSON.parse(body).code], [503, code])
  assert.match(String(retry), /^[1-9]\d*$/)
}

async function answerOf(url: string, headers: Record<string, string> = HEADERS) {
  const response = await fetch(url, { headers })
  const body = await response.text()
  return { status: response.status, retry: response.headers.get('retry-after'), body }
}
