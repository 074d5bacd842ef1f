import assert from 'node:assert/strict'
import { AsyncResource } from 'node:async_hooks'
import { type TestContext, test } from 'node:test'
import { keepContext } from '../../lib/guard/async-context.ts'
import { currentAuthorization } from '../../lib/index.ts'
import { contextOf } from '../../lib/routes/fastify-scope.ts'
import { as, bareApp, guardedApp } from '../helpers/app/guarded-app.ts'
import { until } from '../helpers/processes/until.ts'

const ON = { asyncContext: true }
const ALICE = await as(undefined, { sub: 'alice' })

/** Who the code runs for. */
const current = () => currentAuthorization()?.userInfo.sub ?? 'nobody'

/** Goes on as in the callback of a pool that no request has made. */
const outside = new AsyncResource('outside')
const lose = (goOn: () => void): void => outside.runInAsyncScope(goOn)

/** An application whose every step notes whom it runs for, and goes on outside of any request. */
async function losing(t: TestContext, answer: unknown) {
  const app = await guardedApp(t, ON)
  const seen: string[] = []
  const step = (where: string, goOn: () => void): void => {
    seen.push(`${where} for ${current()}`)
    lose(goOn)
  }
  app.addHook('onRequest', (_request, _reply, done) => step('onRequest', done))
  app.addHook('preParsing', (_request, _reply, payload, done) => {
    step('preParsing', () => done(null, payload))
  })
  app.addHook('preValidation', (_request, _reply, done) => step('preValidation', done))
  app.addHook('preHandler', (_request, _reply, done) => step('preHandler', done))
  app.addHook('preSerialization', (_request, _reply, payload, done) => {
    step('preSerialization', () => done(null, payload))
  })
  app.addHook('onSend', (_request, _reply, payload, done) => {
    step('onSend', () => done(null, payload))
  })
  app.addHook('onError', (_request, _reply, _error, done) => step('onError', done))
  app.addHook('onResponse', (_request, _reply, done) => step('onResponse', done))
  app.post('/x', ({ body }, reply) => {
    step('handler', () => reply.send(answer ?? { body }))
  })
  const response = await app.inject({
    method: 'POST',
    url: '/x',
    headers: ALICE,
    payload: { soup: 1 },
  })
  await until(() => seen.some((each) => each.startsWith('onResponse')))
  return { seen, response }
}

const BEFORE = ['onRequest', 'preParsing', 'preValidation', 'preHandler', 'handler']

/** What a handler answers, and the steps after it. */
const ANSWERS: readonly [what: string, answer: unknown, status: number, after: string[]][] = [
  ['an object', null, 200, ['preSerialization', 'onSend', 'onResponse']],
  ['a text', 'soup', 200, ['onSend', 'onResponse']],
  ['an error', new Error('no soup'), 500, ['onError', 'onSend', 'onResponse']],
]

for (const [what, answer, status, after] of ANSWERS) {
  test(`each step up to the end of ${what} runs for its request, wherever the last one went on`, async (t) => {
    const { seen, response } = await losing(t, answer)
    assert.equal(response.statusCode, status)
    if (answer === null) assert.deepEqual(response.json(), { body: { soup: 1 } })
    assert.deepEqual(
      seen,
      [...BEFORE, ...after].map((where) => `${where} for alice`),
    )
  })
}

test('hooks are added once for an application, and only with the option', (t) => {
  const app = bareApp(t)
  const { mock } = t.mock.method(app, 'addHook')
  keepContext(app, { asyncContext: false })
  assert.equal(mock.callCount(), 0)
  for (const _ of [1, 2]) keepContext(app, ON)
  assert.equal(mock.callCount(), 8)
})

test('a handler is wrapped once, however many requests it answers', async (t) => {
  const app = await guardedApp(t, ON)
  const handlers = new Set<unknown>()
  app.get('/x', async (request) => void handlers.add(contextOf(request)?.handler))
  for (const _ of [1, 2]) await app.inject({ url: '/x', headers: ALICE })
  assert.equal(handlers.size, 1)
})
