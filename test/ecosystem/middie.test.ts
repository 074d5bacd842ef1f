import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { test } from 'node:test'
import middie from '@fastify/middie'
import { ALICE, beside, SIDES } from '../helpers/app/beside.ts'

const advice = /^tenant auth: @fastify\/middie .*register it after/

for (const side of SIDES) {
  test(`With @fastify/middie ${side} the guard no handler is open to strangers`, async (t) => {
    const { app, authority } = await beside(side, (app) => app.register(middie))
    t.after(() => app.close())
    app.use((_request, _response, next) => next())
    app.get('/menus', async () => 'ok')
    assert.equal((await app.inject('/menus')).statusCode, 401)
    const headers = await authority.headers(ALICE)
    assert.equal((await app.inject({ url: '/menus', headers })).body, 'ok')
  })
}

/** A middleware in the old style. */
function answerOld(_request: IncomingMessage, response: ServerResponse): void {
  response.end('old')
}

test('With @fastify/middie after the guard strangers reach no middleware before a route', async (t) => {
  const { app, authority, warnings } = await beside('after', (app) => app.register(middie))
  t.after(() => app.close())
  app.use('/old', answerOld)
  app.get('/old', async () => 'new')
  assert.equal((await app.inject('/old')).statusCode, 401)
  const headers = await authority.headers(ALICE)
  assert.equal((await app.inject({ url: '/old', headers })).body, 'old')
  assert.equal(warnings.filter((warning) => advice.test(warning)).length, 0)
})

test('Middleware answers strangers where no route matches, and a route for its paths closes it', async (t) => {
  for (const [hasRoute, statusCode] of [
    [false, 200],
    [true, 401],
  ] as const) {
    const { app } = await beside('after', (app) => app.register(middie))
    t.after(() => app.close())
    app.use('/old', answerOld)
    if (hasRoute) app.all('/old/*', (_request, reply) => reply.callNotFound())
    assert.equal((await app.inject('/old/page')).statusCode, statusCode)
  }
})

test('With @fastify/middie before the guard a warning says that its middleware answers strangers', async (t) => {
  const { app, warnings } = await beside('before', (app) => app.register(middie))
  t.after(() => app.close())
  app.use('/old', answerOld)
  app.get('/old', async () => 'new')
  await app.ready()
  assert.equal(warnings.filter((warning) => advice.test(warning)).length, 1)
  assert.equal((await app.inject('/old')).body, 'old')
})
