import assert from 'node:assert/strict'
import { AsyncResource } from 'node:async_hooks'
import { once } from 'node:events'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { fastifyRequestContext, requestContext } from '@fastify/request-context'
import websocket from '@fastify/websocket'
import mercurius from 'mercurius'
import { currentAuthorization } from '../../lib/index.ts'
import { ALICE, beside, SIDES } from '../helpers/app/beside.ts'
import { greeting, socketTo } from '../helpers/app/sockets.ts'

declare module '@fastify/request-context' {
  interface RequestContextData {
    mark: string
  }
}

const ON = { asyncContext: true }
const BOB = { ...ALICE, sub: 'bob' }

const current = () => currentAuthorization()?.userInfo.sub ?? 'nobody'

for (const side of SIDES) {
  test(`With @fastify/websocket ${side} the guard a socket's handler runs for its user, and so does a listener that is bound`, async (t) => {
    const { app, authority } = await beside(t, side, (app) => app.register(websocket), ON)
    app.get('/chat', { websocket: true }, (socket) => {
      const answers = [current()]
      socket.on('message', () => answers.push(current()))
      socket.on(
        'message',
        AsyncResource.bind(() => {
          answers.push(current())
          socket.send(answers.join())
        }),
      )
    })
    await app.listen({ port: 0, host: '127.0.0.1' })
    const answers = await Promise.all(
      [ALICE, BOB].map(async (user) => {
        const socket = socketTo(app, '/chat', { headers: await authority.headers(user) })
        await once(socket, 'open')
        socket.send('who am I?')
        return greeting(socket)
      }),
    )
    assert.deepEqual(answers, ['alice,nobody,alice', 'bob,nobody,bob'])
  })

  test(`With mercurius ${side} the guard resolvers run for their request`, async (t) => {
    const { app, authority } = await beside(
      t,
      side,
      (app) =>
        app.register(mercurius, {
          schema: 'type Query { me: String later: String }',
          resolvers: { Query: { me: current, later: async () => setImmediate().then(current) } },
        }),
      ON,
    )
    const payload = { query: '{ me later }' }
    const answers = await Promise.all(
      [ALICE, BOB, ALICE].map(async (user) => {
        const headers = await authority.headers(user)
        return (await app.inject({ method: 'POST', url: '/graphql', headers, payload })).json().data
      }),
    )
    const found = answers
    assert.deepEqual(
      found,
      ['alice', 'bob', 'alice'].map((sub) => ({ me: sub, later: sub })),
    )
  })

  test(`With @fastify/request-context ${side} the guard both contexts are those of the request`, async (t) => {
    const { app, authority } = await beside(
      t,
      side,
      (app) => app.register(fastifyRequestContext),
      ON,
    )
    app.post('/x', async (request) => {
      requestContext.set('mark', String(request.headers['x-mark']))
      await setImmediate()
      return [requestContext.get('mark'), current()]
    })
    const answers = await Promise.all(
      [ALICE, BOB, ALICE].map(async (user) => {
        const headers = { ...(await authority.headers(user)), 'x-mark': user.sub }
        return (await app.inject({ method: 'POST', url: '/x', headers, payload: {} })).json()
      }),
    )
    const found = answers
    assert.deepEqual(
      found,
      ['alice', 'bob', 'alice'].map((sub) => [sub, sub]),
    )
  })
}
