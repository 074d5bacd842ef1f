import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { describe, test } from 'node:test'
import express from '@fastify/express'
import middie from '@fastify/middie'
import { assertGuarded } from '../../lib/entrypoints/testing/index.ts'
import { ALICE, beside, SIDES } from '../helpers/app/beside.ts'

/** A middleware in the old style. Under `inject`, Express loses the body. */
function answerOld(_request: IncomingMessage, response: ServerResponse): void {
  response.statusCode = 203
  response.end('old')
}

for (const [name, plugin] of Object.entries({ middie, express })) {
  describe(`with @fastify/${name}`, () => {
    const advice = `@fastify/${name} is registered before this plugin: its middleware answers strangers`

    for (const side of SIDES) {
      test(`${side} the guard, no handler is open to strangers`, async (t) => {
        const { app, authority } = await beside(t, side, (app) => app.register(plugin))
        app.use((_request, _response, next) => next())
        app.get('/menus', async () => 'ok')
        assert.equal((await app.inject('/menus')).statusCode, 401)
        const headers = await authority.headers(ALICE)
        assert.equal((await app.inject({ url: '/menus', headers })).statusCode, 200)
      })
    }

    for (const side of SIDES) {
      test(`${side} the guard, a probe finds all refusals`, async (t) => {
        const { app, authority } = await beside(t, side, (app) => app.register(plugin), {
          resolveTenant: ({ headers }) => String(headers['x-tenant']),
        })
        app.use((_request, _response, next) => next())
        app.get('/menus', async () => assert.fail('the handler runs'))
        const config = { tenant: 'required', late: true, require: 'menu:read' } as const
        app.post('/orders', { config }, async () => assert.fail('the handler runs'))
        await assertGuarded(app, authority, { headers: (tenant) => ({ 'x-tenant': tenant }) })
      })
    }

    test('after the guard, strangers reach no middleware before a route', async (t) => {
      const { app, authority, warnings } = await beside(t, 'after', (app) => app.register(plugin))
      app.use('/old', answerOld)
      app.get('/old', async () => 'new')
      assert.equal((await app.inject('/old')).statusCode, 401)
      const headers = await authority.headers(ALICE)
      assert.equal((await app.inject({ url: '/old', headers })).statusCode, 203)
      assert.equal(warnings.filter((warning) => warning.includes(advice)).length, 0)
    })

    test('middleware answers strangers where no route matches', async (t) => {
      const { app } = await beside(t, 'after', (app) => app.register(plugin))
      app.use('/old', answerOld)
      app.all('/old/*', (_request, reply) => reply.callNotFound())
      const statuses: Record<string, number> = { '/old/page': 401, '/OLD/page': 203, '/old': 203 }
      for (const [url, status] of Object.entries(statuses)) {
        assert.equal((await app.inject(url)).statusCode, status, url)
      }
    })

    test('in a scope of its own, middleware answers no stranger', async (t) => {
      const { app, authority } = await beside(t, 'after', async () => {})
      app.register(async (scope) => {
        await scope.register(plugin)
        scope.use('/old', answerOld)
        scope.all('/old', (_request, reply) => reply.callNotFound())
        scope.all('/old/*', (_request, reply) => reply.callNotFound())
      })
      const headers = await authority.headers(ALICE)
      for (const url of ['/old', '/old/page']) {
        assert.equal((await app.inject(url)).statusCode, 401, url)
        assert.equal((await app.inject({ url, headers })).statusCode, 203, url)
      }
      for (const url of ['/OLD', '/OLD/page', '/old/page/', '/Old/', '//old', '/o%6cd']) {
        const { statusCode } = await app.inject(url)
        assert.ok(statusCode === 401 || statusCode === 404, `${url}: ${statusCode}`)
      }
    })

    test('before the guard, a warning says that its middleware answers strangers', async (t) => {
      const { app, warnings } = await beside(t, 'before', (app) => app.register(plugin))
      app.use('/old', answerOld)
      app.get('/old', async () => 'new')
      await app.ready()
      assert.equal(warnings.filter((warning) => warning.includes(advice)).length, 1)
      assert.equal((await app.inject('/old')).statusCode, 203)
    })
  })
}
