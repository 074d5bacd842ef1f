import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import tenantAuth, { errors } from '../../lib/index.ts'
import { as, bareApp, guardedApp, trusting } from '../helpers/app/guarded-app.ts'
import { logLines } from '../helpers/app/log-lines.ts'
import { assertRefused } from '../helpers/app/refusals.ts'

const CHALLENGE = 'Bearer realm="api"'

/** The package http-errors has no types of its own. */
const createError: (...given: unknown[]) => Error = createRequire(import.meta.url)('http-errors')

/** Error handlers that applications write. */
const HANDLERS: readonly [what: string, set: (app: FastifyInstance) => void][] = [
  [
    'sends a plain object',
    (app) =>
      void app.setErrorHandler((error: errors.AuthError, _request, reply) => {
        reply.code(error.statusCode).send({ problem: error.code })
      }),
  ],
  [
    'returns a plain object',
    (app) =>
      void app.setErrorHandler(async (error: errors.AuthError, _request, reply) => {
        reply.code(error.statusCode)
        return { problem: error.code }
      }),
  ],
  [
    'sends another content type',
    (app) =>
      void app.setErrorHandler((error: errors.AuthError, _request, reply) => {
        reply
          .code(error.statusCode)
          .type('text/plain')
          .send(JSON.stringify({ problem: error.code }))
      }),
  ],
  [
    'gives it to http-errors',
    (app) =>
      void app.setErrorHandler((error: errors.AuthError, _request, reply) => {
        createError(error.statusCode, error)
        reply.code(error.status).send({ problem: error.code })
      }),
  ],
  [
    'fills in what errors lack',
    (app) =>
      void app.setErrorHandler((error: errors.AuthError, _request, reply) => {
        const written: { status?: number; name: string; reason?: string } = error
        written.status = written.status ?? 500
        written.name = written.name || 'Error'
        written.reason = 'own'
        Object.assign(error, {
          challenge: null,
          retryAfter: null,
          mismatch: undefined,
          expose: true,
        })
        reply.code(error.status).send({ problem: error.code })
      }),
  ],
]

for (const [what, set] of HANDLERS) {
  test(`the challenge survives an error handler that ${what}`, async (t) => {
    const app = await guardedApp(t)
    set(app)
    app.get('/x', async () => 'never')
    const response = await app.inject('/x')
    assert.deepEqual(response.json(), { problem: 'ERR_AUTH_TOKEN_MISSING' })
    assert.equal(response.statusCode, 401)
    assert.equal(response.headers['www-authenticate'], CHALLENGE)
  })

  test(`the challenge survives an encapsulated error handler that ${what}`, async (t) => {
    const app = bareApp(t)
    app.register(async (child) => {
      set(child)
      child.get('/in', async () => 'never')
    })
    app.register(tenantAuth, trusting())
    const response = await app.inject('/in')
    assert.deepEqual(response.json(), { problem: 'ERR_AUTH_TOKEN_MISSING' })
    assert.equal(response.headers['www-authenticate'], CHALLENGE)
  })
}

test('the challenge survives the error handler of a route, and one that throws the error again', async (t) => {
  const app = await guardedApp(t)
  app.setErrorHandler(async (error) => {
    throw error
  })
  const errorHandler = (error: Error) => {
    throw error
  }
  app.get('/x', { errorHandler }, async () => 'never')
  assertRefused(await app.inject('/x'), 'ERR_AUTH_TOKEN_MISSING')
})

for (const member of ['reason', 'challenge', 'mismatch', 'retryAfter', 'stack', 'status']) {
  test(`a schema of errors that documents ${member} is no 500, and shows no reason`, async (t) => {
    const app = await guardedApp(t, { tenants: () => Promise.reject(new Error('own words')) })
    const properties = { message: { type: 'string' }, [member]: {} }
    const documented = { type: 'object', properties }
    const response = { '4xx': documented, '5xx': documented }
    const config = { tenant: 'required', require: 'a:b' } as const
    app.get('/x', { config, schema: { response } }, async () => 'never')
    app.get('/y', { config: { stepUp: { maxAge: 1 } }, schema: { response } }, async () => 'never')
    const [url, old] = ['/x?tenant=lazy-raccoon', { auth_time: 1 }]
    for (const [request, status, message] of [
      [{ url }, 401, 'Authentication is required'],
      [{ url, headers: { authorization: 'Bearer x' } }, 401, 'The access token is not valid'],
      [{ url, headers: await as({}) }, 403, 'Access to this tenant is not permitted'],
      [{ url: '/y', headers: await as({}, old) }, 401, 'A new login is required'],
      [
        { url, headers: await as({ '*': ['a:b'], 'lazy-raccoon': [] }) },
        503,
        'Tenants cannot be checked now',
      ],
    ] as const) {
      const answer = await app.inject(request)
      const body = answer.json()
      assert.deepEqual([answer.statusCode, body.message], [status, message])
      if (member === 'reason') assert.equal(body.reason, '')
      assert.equal(answer.headers['cache-control'], 'no-store')
    }
  })
}

for (const [member, value] of [
  ['challenge', undefined],
  ['retryAfter', undefined],
  ['retryAfter', 5n],
] as const) {
  test(`a refusal whose ${member} a handler has set to ${value} has its headers and its line`, async (t) => {
    const { logger, lines } = logLines()
    const app = await guardedApp(t, {}, { logger })
    app.get('/x', { config: { authorization: true } }, async ({ authorization }) => {
      try {
        return authorization.require('a:b')
      } catch (error) {
        throw Object.assign(Object(error), { [member]: value })
      }
    })
    const { statusCode, headers } = await app.inject({ url: '/x', headers: await as() })
    assert.deepEqual([statusCode, headers['cache-control']], [403, 'no-store'])
    assert.equal(headers['retry-after'], undefined)
    assert.equal('www-authenticate' in headers, member !== 'challenge')
    assert.equal(lines('request refused').length, 1)
  })
}

test('a refusal that a handler wraps keeps its status and challenge', async (t) => {
  const app = await guardedApp(t)
  app.get('/x', { config: { authorization: true } }, async ({ authorization }) => {
    try {
      return authorization.require('a:b')
    } catch (error) {
      throw Object.create(Object(error))
    }
  })
  const response = await app.inject({ url: '/x', headers: await as() })
  assert.equal(response.statusCode, 403)
  assert.equal(response.headers['www-authenticate'], `${CHALLENGE}, error="insufficient_scope"`)
  assert.equal(response.headers['cache-control'], 'no-store')
})

test('an error of ours that a handler makes keeps its own message', async (t) => {
  const app = await guardedApp(t)
  app.setErrorHandler(async (_error, _request, reply) => {
    reply.header('www-authenticate', 'Basic realm="own"').code(401)
    return 'own'
  })
  app.get('/x', async () => 'never')
  const response = await app.inject('/x')
  assert.equal(response.headers['www-authenticate'], 'Basic realm="own"')
})

test('a require() that a handler catches leaves no header', async (t) => {
  const app = await guardedApp(t)
  app.get('/x', { config: { authorization: true } }, async ({ authorization }) => {
    const refused = [
      () => authorization.require('a:b'),
      () => authorization.requireAny('a:b'),
      () => authorization.in('other'),
      () => authorization.in('*'),
    ]
    for (const attempt of refused) assert.throws(attempt, errors.AuthError)
    return 'caught'
  })
  const response = await app.inject({ url: '/x', headers: await as() })
  assert.deepEqual([response.statusCode, response.body], [200, 'caught'])
  assert.equal(response.headers['www-authenticate'], undefined)
})

test('a require() that is caught adds nothing to the answer to a later error', async (t) => {
  const app = await guardedApp(t)
  app.get('/x', { config: { authorization: true } }, async ({ authorization }) => {
    assert.throws(() => authorization.require('a:b'))
    throw new Error('own')
  })
  const response = await app.inject({ url: '/x', headers: await as() })
  assert.equal(response.statusCode, 500)
  assert.equal(response.headers['www-authenticate'], undefined)
})

test('no response carries more than one challenge, nor a line break in a header', async (t) => {
  const app = await guardedApp(t)
  app.get('/x', { config: { require: 'a:b' } }, async () => 'never')
  for (const headers of [{}, await as(), { authorization: 'Bearer\r\nx' }]) {
    const response = await app.inject({ url: '/x', headers })
    const challenge = response.headers['www-authenticate']
    assert.equal(typeof challenge, 'string')
    assert.doesNotMatch(String(challenge), /[\r\n]/)
  }
})
