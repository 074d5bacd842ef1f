import assert from 'node:assert/strict'
import { EventEmitter, on, once } from 'node:events'
import { type TestContext, test } from 'node:test'
import type { FastifyRequest } from 'fastify'
import mercurius, { type IResolvers } from 'mercurius'
import type { WebSocket } from 'ws'
import { type Authorization, authorizationOf } from '../../lib/index.ts'
import { ALICE, beside, SIDES, type Side } from '../helpers/app/beside.ts'
import { refusal, socketTo } from '../helpers/app/sockets.ts'

const schema = `
  type Query { tenant: String me: String menu: String }
  type Mutation { cook(meal: String!): String }
  type Subscription { cooked: String }
`

declare module 'mercurius' {
  interface MercuriusContext {
    authorization: Authorization | null
  }
}

/**
 * GraphQL formats a refusal too, so this is asked for a refused request. Then there is no
 * authorization.
 */
const contextOf = (request: FastifyRequest) => ({ authorization: authorizationOf(request) })

/** Rings in the tests when a subscription is set up. */
const bell = new EventEmitter()

const topicOf = (authorization: Authorization | null) => `cooked in ${authorization?.tenant}`

const resolvers: IResolvers = {
  Query: {
    tenant: (_root, _input, { authorization }) => authorization?.tenant,
    me: (_root, _input, { authorization }) => authorization?.userInfo.sub,
    menu: (_root, _input, { authorization }) => {
      authorization?.require('menu:write')
      return 'secret'
    },
  },
  Mutation: {
    cook: async (_root, { meal }, { authorization, pubsub }) => {
      await pubsub.publish({ topic: topicOf(authorization), payload: { cooked: meal } })
      return meal
    },
  },
  Subscription: {
    cooked: {
      subscribe: async (_root, _input, { authorization, pubsub }) => {
        const cooked = await pubsub.subscribe(topicOf(authorization))
        bell.emit('subscribed')
        return cooked
      },
    },
  },
}

async function kitchen(t: TestContext, side: Side) {
  return beside(t, side, (app) =>
    app.register(mercurius, {
      schema,
      resolvers,
      path: '/:tenant/graphql',
      context: async (request) => contextOf(request),
      subscription: { context: async (_socket, request) => contextOf(request) },
      additionalRouteOptions: { config: { tenant: 'required' } },
    }),
  )
}

const ask = (query: string, headers: Record<string, string> = {}, tenant = 'lazy-raccoon') =>
  ({ method: 'POST', url: `/${tenant}/graphql`, headers, payload: { query } }) as const

for (const side of SIDES) {
  test(`With mercurius ${side} the guard resolvers know the tenant and the user`, async (t) => {
    const { app, authority } = await kitchen(t, side)
    const headers = await authority.headers(ALICE)
    const { data } = (await app.inject(ask('{ tenant me }', headers))).json()
    assert.deepEqual(data, { tenant: 'lazy-raccoon', me: 'alice' })
    const query = encodeURIComponent('{ tenant }')
    const inQuery = await app.inject({ url: `/lazy-raccoon/graphql?query=${query}`, headers })
    assert.deepEqual(inQuery.json().data, { tenant: 'lazy-raccoon' })
  })

  test(`With mercurius ${side} the guard a refusal keeps its status and its challenge`, async (t) => {
    const { app, authority } = await kitchen(t, side)
    const headers = await authority.headers(ALICE)
    for (const [request, statusCode, challenge] of [
      [ask('{ tenant }'), 401, 'Bearer realm="api"'],
      [
        ask('{ tenant }', headers, 'busy-badger'),
        403,
        'Bearer realm="api", error="insufficient_scope"',
      ],
    ] as const) {
      const answer = await app.inject(request)
      assert.equal(answer.statusCode, statusCode)
      assert.equal(answer.headers['www-authenticate'], challenge)
      assert.equal(answer.json().data, null)
    }
  })

  test(`With mercurius ${side} the guard a resolver may require more`, async (t) => {
    const { app, authority } = await kitchen(t, side)
    const answer = await app.inject(ask('{ menu }', await authority.headers(ALICE)))
    const { data, errors } = answer.json()
    assert.deepEqual(data, { menu: null })
    assert.equal(errors[0].message, 'A required resource is missing')
    assert.doesNotMatch(answer.body, /secret/)
  })

  test(`With mercurius ${side} the guard a subscription belongs to its tenant`, async (t) => {
    const { app, authority } = await kitchen(t, side)
    await app.listen({ port: 0, host: '127.0.0.1' })
    const path = '/lazy-raccoon/graphql'
    const protocols = ['graphql-transport-ws']
    assert.equal((await refusal(socketTo(app, path, { protocols }))).statusCode, 401)

    const resources = { 'lazy-raccoon': [], 'busy-badger': [] }
    const headers = await authority.headers({ sub: 'alice', resources })
    const subscribed = once(bell, 'subscribed')
    const socket = socketTo(app, path, { headers, protocols })
    const messages = conversation(socket)
    socket.once('open', () => socket.send(JSON.stringify({ type: 'connection_init' })))
    assert.equal((await messages.next()).type, 'connection_ack')
    const payload = { query: 'subscription { cooked }' }
    socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload }))
    await subscribed
    await app.inject(ask('mutation { cook(meal: "theirs") }', headers, 'busy-badger'))
    await app.inject(ask('mutation { cook(meal: "ours") }', headers))
    const cooked = await messages.next()
    assert.deepEqual(cooked.payload, { data: { cooked: 'ours' } })
    socket.close()
  })
}

interface Message {
  readonly type: string
  readonly payload?: unknown
}

/** The messages of a socket, one after the other. */
function conversation(socket: WebSocket) {
  const events = on(socket, 'message')
  const next = async (): Promise<Message> => {
    const { value } = await events.next()
    return JSON.parse(String(value[0]))
  }
  return { next }
}
