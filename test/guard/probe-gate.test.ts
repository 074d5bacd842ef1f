import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import type { FastifyInstance, FastifyRequest, InjectOptions } from 'fastify'
import { doneInPlace, ProbedRequest, probeEndOf, whileProbing } from '../../lib/guard/probe-gate.ts'
import tenantAuth from '../../lib/index.ts'
import { commonPrototype } from '../../lib/routes/fastify-scope.ts'
import { as, bareApp, guardedApp, trusting } from '../helpers/app/guarded-app.ts'

const probe = (app: FastifyInstance, sent: InjectOptions) =>
  whileProbing(app, async () => app.inject({ ...sent, Request: ProbedRequest }))

/** What a gate is done with, for a probed request and for another one. */
const DONE: readonly [error: Error | undefined, probed: number, other: number][] = [
  [undefined, 204, 200],
  [new Error('refused'), 500, 500],
]

for (const [error, probed, other] of DONE) {
  test(`done with ${error}, a gate answers a probe with ${probed}, and others with ${other}`, async (t) => {
    const app = bareApp(t)
    app.addHook('preHandler', (request, reply, done) => {
      const isProbe = request.raw instanceof ProbedRequest
      const end = isProbe ? doneInPlace(request, reply, done, { policyOf: () => null }) : done
      end(error)
    })
    let handled = 0
    app.get('/x', async () => {
      handled += 1
      return 'x'
    })
    const first = await app.inject({ url: '/x', Request: ProbedRequest })
    assert.equal(first.statusCode, probed)
    assert.equal(handled, 0)
    const end = error === undefined ? { url: '/x', policy: null, error: null } : undefined
    assert.deepEqual(probeEndOf(first.raw.req), end)
    const second = await app.inject('/x')
    assert.equal(second.statusCode, other)
    assert.equal(probeEndOf(second.raw.req), undefined)
  })
}

const ENDS: readonly [url: string, isUser: boolean, status: number, end: object][] = [
  ['/x', false, 401, { url: '/x', noauth: false, code: 'ERR_AUTH_TOKEN_MISSING' }],
  ['/x', true, 204, { url: '/x', noauth: false, code: null }],
  ['/open', false, 204, { url: '/open', noauth: true, code: null }],
  ['/none', false, 404, { url: undefined, noauth: null, code: null }],
]

for (const [url, isUser, status, expected] of ENDS) {
  test(`a probe of ${url} ${isUser ? 'as a user' : 'as a stranger'} ends with ${status} at the guard`, async (t) => {
    const app = await guardedApp(t)
    const handler = async () => assert.fail('a handler ran')
    app.get('/x', handler)
    app.get('/open', { config: { noauth: true } }, handler)
    const headers = isUser ? await as() : {}
    const response = await probe(app, { url, headers })
    assert.equal(response.statusCode, status)
    assert.equal(response.body === '', status !== 401)
    const end = probeEndOf(response.raw.req)
    const { url: route, policy, error } = end ?? assert.fail('nothing was noted')
    const reported = { url: route, noauth: policy?.noauth ?? null, code: error?.code ?? null }
    assert.deepEqual(reported, expected)
  })
}

/** What hooks of others do to the raw request, such as that of @fastify/express. */
const CHANGES: Readonly<Record<string, (request: FastifyRequest) => unknown>> = {
  'gets another class': ({ raw }) => Object.setPrototypeOf(raw, Readable.prototype),
  'is replaced': (request) => Reflect.set(request, 'raw', new Proxy(request.raw, {})),
}

for (const [what, change] of Object.entries(CHANGES)) {
  test(`a probe stays one where its raw request ${what}`, async (t) => {
    const app = bareApp(t)
    app.addHook('onRequest', async (request) => void change(request))
    await app.register(tenantAuth, trusting())
    app.get('/x', async () => assert.fail('a handler ran'))
    for (const [headers, status] of [
      [{}, 401],
      [await as(), 204],
    ] as const) {
      const response = await probe(app, { url: '/x', headers })
      assert.equal(response.statusCode, status)
      assert.equal(probeEndOf(response.raw.req)?.error?.statusCode ?? 204, status)
    }
  })
}

test('a probe that the router finds a route for after its end reaches no handler either', async (t) => {
  const app = await guardedApp(t)
  app.get('/open', { config: { noauth: true } }, async () => assert.fail('a handler ran'))
  await app.ready()
  await whileProbing(app, async () => {})
  const late = await app.inject({ url: '/open', Request: ProbedRequest })
  assert.equal(late.statusCode, 204)
})

test('a refusal is noted of a probe alone, and stays where the not-found handler answers', async (t) => {
  const app = await guardedApp(t)
  app.get('/x', async () => 'never')
  app.setErrorHandler((_error, _request, reply) => void reply.callNotFound())
  const probed = await probe(app, { url: '/x' })
  assert.equal(probed.statusCode, 404)
  assert.equal(probeEndOf(probed.raw.req)?.error?.code, 'ERR_AUTH_TOKEN_MISSING')
  const other = await app.inject('/x')
  assert.equal(other.statusCode, 404)
  assert.equal(probeEndOf(other.raw.req), undefined)
})

test('requests are watched until the last probe ends, and another copy may watch them too', async (t) => {
  const app = await guardedApp(t)
  const prototype = commonPrototype(app) ?? assert.fail('Fastify shows its requests')
  const watcher = () => Object.getOwnPropertyDescriptor(prototype, 'raw')?.set
  const copy = t.mock.fn()
  const watchToo = () => Object.defineProperty(prototype, 'raw', { configurable: true, set: copy })
  t.after(() => Reflect.deleteProperty(prototype, 'raw'))
  await whileProbing(app, async () => {
    const own = watcher()
    assert.ok(own, 'it is watched')
    await whileProbing(app, async () => {})
    assert.equal(watcher(), own, 'a probe goes on')
  })
  assert.equal(watcher(), undefined)
  await whileProbing(app, async () => watchToo())
  assert.equal(watcher(), copy, 'it began later')
  await whileProbing(app, async () => void (await app.inject('/none')))
  assert.deepEqual([watcher(), copy.mock.callCount()], [copy, 1], 'it began before')
})
