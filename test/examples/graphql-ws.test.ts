import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import Fastify from 'fastify'
import { buildSchema } from 'graphql'
import { createClient } from 'graphql-ws'
import { WebSocket } from 'ws'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import tenantAuth from '../../lib/index.ts'
import { type Context, serveSubscriptions } from './graphql-ws.ts'

const authority = await createTestAuthority()
const resources = { 'lazy-raccoon': ['order:read'], 'busy-beaver': [] }

async function start(t: TestContext) {
  const app = Fastify({ forceCloseConnections: true })
  t.after(() => app.close())
  await app.register(tenantAuth, authority.options)
  const listen = async () => {
    await app.listen({ port: 0, host: '127.0.0.1' })
    return (app.server.address() as AddressInfo).port
  }
  return { app, listen }
}

test('a subscription of graphql-ws has the rights of its token, and ends with the service', async (t) => {
  const { app, listen } = await start(t)
  const schema = buildSchema('type Query { tenant: String }')
  const { tenant: field } = schema.getQueryType()?.getFields() ?? {}
  assert.ok(field, 'there is a field')
  field.resolve = (_root: unknown, _args: unknown, { authorization }: Context) =>
    authorization.tenant
  serveSubscriptions(app, schema)
  const port = await listen()
  const ask = (connectionParams: Record<string, unknown>) => {
    const url = `ws://127.0.0.1:${port}/graphql`
    const client = createClient({
      url,
      connectionParams,
      webSocketImpl: WebSocket,
      retryAttempts: 0,
    })
    const answer = new Promise((resolve) => {
      client.subscribe(
        { query: '{ tenant }' },
        {
          next: ({ data }) => resolve(data?.['tenant']),
          error: (error) => resolve(Reflect.get(Object(error), 'code')),
          complete: () => resolve('completed'),
        },
      )
    })
    return { client, answer }
  }
  const token = await authority.token({ resources })
  for (const params of [
    { token, tenant: 'other' },
    { token: 'forged', tenant: 'busy-beaver' },
    {},
  ]) {
    assert.equal(await ask(params).answer, 4403)
  }
  assert.equal(await ask({ token, tenant: 'busy-beaver' }).answer, 'busy-beaver')

  const socket = new WebSocket(`ws://127.0.0.1:${port}/graphql`, 'graphql-transport-ws')
  await once(socket, 'open')
  const payload = { token, tenant: 'lazy-raccoon' }
  socket.send(JSON.stringify({ type: 'connection_init', payload }))
  await once(socket, 'message')
  const closed = once(socket, 'close')
  await app.close()
  assert.equal((await closed)[0], 4403)
})
