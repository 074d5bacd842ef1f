import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import tenantAuth, { errors } from '../../lib/index.ts'
import { as, authority, bareApp, guardedApp, trusting } from '../helpers/app/guarded-app.ts'

const resource = 'https://api.test/mcp'
const METADATA = 'resource_metadata="https://api.test/.well-known/oauth-protected-resource/mcp"'

/** The challenge of a refused request; the app has a `resource`. */
async function challengeOf(app: FastifyInstance, url: string, headers: object = {}) {
  const response = await app.inject({ url, headers: { ...headers } })
  return response.headers['www-authenticate']
}

describe('the challenge of an API with a resource', () => {
  test('names its metadata, in each 401 and 403', async (t) => {
    const app = await guardedApp(t, { resource })
    app.get('/x', { config: { tenant: true, require: 'a:b' } }, async () => 'never')
    const expired = await authority.headers({}, { expiresIn: -60 })
    const missing = `Bearer realm="api", scope="a:b", ${METADATA}`
    assert.equal(await challengeOf(app, '/x'), missing)
    assert.equal(
      await challengeOf(app, '/x', expired),
      `Bearer realm="api", error="invalid_token", scope="a:b", ${METADATA}`,
    )
    assert.equal(
      await challengeOf(app, '/x?tenant=busy-beaver', await as()),
      `Bearer realm="api", error="insufficient_scope", ${METADATA}`,
    )
    assert.equal(
      await challengeOf(app, '/x?tenant=lazy-raccoon', await as()),
      `Bearer realm="api", error="insufficient_scope", scope="a:b", ${METADATA}`,
    )
    const head = await app.inject({ method: 'HEAD', url: '/x' })
    assert.equal(head.headers['www-authenticate'], missing)
  })

  test('is none where other credentials would not help', async (t) => {
    const app = await guardedApp(t, { resource })
    app.get('/x', { config: { tenant: true } }, async () => 'never')
    assert.equal(await challengeOf(app, '/x', await as()), undefined)
    assert.equal(await challengeOf(app, '/none'), undefined)
    const { statusCode, headers } = await app.inject({ url: '/x', headers: await as() })
    assert.deepEqual([statusCode, headers['cache-control']], [400, 'no-store'])
  })

  test('names no text of a handler that is no resource id', async (t) => {
    const app = await guardedApp(t, { resource })
    const config = { authorization: true } as const
    app.get('/x', { config }, ({ authorization }) => authorization.require('a:b', 'c"', 'd e'))
    assert.equal(
      await challengeOf(app, '/x', await as()),
      `Bearer realm="api", error="insufficient_scope", scope="a:b", ${METADATA}`,
    )
  })

  test('names its metadata in dev mode too', async (t) => {
    const options = { devMode: true, issuer: 'https://a.test', resource }
    const app = await guardedApp(t, options)
    app.get('/x', { config: { require: 'a:b' } }, async () => 'never')
    const challenge = `Bearer realm="api", error="insufficient_scope", scope="a:b", ${METADATA}`
    assert.equal(await challengeOf(app, '/x'), challenge)
  })

  test('keeps its quotes whole, whatever the realm is', async (t) => {
    const app = await guardedApp(t, { resource, realm: 'a", resource_metadata="b\\' })
    app.get('/x', async () => 'never')
    const realm = 'realm="a\\", resource_metadata=\\"b\\\\"'
    assert.equal(await challengeOf(app, '/x'), `Bearer ${realm}, ${METADATA}`)
  })
})

/** What a route requires, and the scope that a stranger is told. */
const REQUIREMENTS = [
  ['nothing', undefined, ''],
  ['one id', 'a:b', ', scope="a:b"'],
  ['all of several', ['b:c', 'a:b'], ', scope="b:c a:b"'],
  ['any of several', { any: ['a:b', 'c:d'] }, ''],
] as const

for (const [what, require, scope] of REQUIREMENTS) {
  test(`a stranger is told the scope of a route that requires ${what}`, async (t) => {
    const app = await guardedApp(t, { resource })
    app.get('/x', { config: { require } }, async () => 'never')
    assert.equal(await challengeOf(app, '/x'), `Bearer realm="api"${scope}, ${METADATA}`)
  })

  test(`without a resource no scope is told of a route that requires ${what}`, async (t) => {
    const app = await guardedApp(t)
    app.get('/x', { config: { require } }, async () => 'never')
    assert.equal(await challengeOf(app, '/x'), 'Bearer realm="api"')
  })
}

test('a 401 that the application throws itself names the scope of its route, if that has one', async (t) => {
  const app = await guardedApp(t, { resource })
  const refuse = async () => {
    throw new errors.ERR_AUTH_TOKEN_INVALID()
  }
  app.get('/own', { config: { require: 'menu:read' } }, refuse)
  app.get('/open', { config: { noauth: true } }, refuse)
  app.setNotFoundHandler(refuse)
  const challenge = 'Bearer realm="api", error="invalid_token"'
  assert.equal(
    await challengeOf(app, '/own', await as()),
    `${challenge}, scope="menu:read", ${METADATA}`,
  )
  assert.equal(await challengeOf(app, '/open'), `${challenge}, ${METADATA}`)
  assert.equal(await challengeOf(app, '/none'), `${challenge}, ${METADATA}`)
})

test('a 401 of a hook before the guard has no scope', async (t) => {
  const app = bareApp(t)
  app.addHook('onRequest', async () => {
    throw new errors.ERR_AUTH_TOKEN_MISSING()
  })
  await app.register(tenantAuth, trusting({ resource }))
  app.get('/x', { config: { require: 'a:b' } }, async () => 'never')
  assert.equal(await challengeOf(app, '/x'), `Bearer realm="api", ${METADATA}`)
})
