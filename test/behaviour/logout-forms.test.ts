import assert from 'node:assert/strict'
import { test } from 'node:test'
import formbody from '@fastify/formbody'
import type { FastifyInstance } from 'fastify'
import { backchannelLogout, denyList } from '../../lib/entrypoints/revocation/index.ts'
import tenantAuth from '../../lib/index.ts'
import { bareApp } from '../helpers/app/guarded-app.ts'
import {
  CLIENT,
  FORM,
  formOf,
  logoutApp,
  logoutToken,
  URL_OF_LOGOUT,
} from '../helpers/app/logout-app.ts'
import { rawRequest } from '../helpers/app/raw-request.ts'
import { ISSUER } from '../helpers/tokens/probe.ts'

const INVALID = '{"error":"invalid_request"}'

const padded = (length: number, token = logoutToken()) => {
  const form = `${formOf(token)}&rest=`
  return form + 'x'.repeat(length - form.length)
}
const MULTIPART = [
  '--x',
  'content-disposition: form-data; name="logout_token"',
  '',
  logoutToken(),
  '--x--',
  '',
].join('\r\n')

/** Bodies with their headers, and the status of the answer. */
const BODIES: readonly [
  what: string,
  body: string,
  headers: Record<string, string>,
  status: number,
][] = [
  ['a form', formOf(logoutToken()), FORM, 200],
  [
    'a form in UTF-8',
    formOf(logoutToken()),
    type('application/x-www-form-urlencoded; charset=UTF-8'),
    200,
  ],
  ['a form in another case', formOf(logoutToken()), type('Application/X-WWW-Form-Urlencoded'), 200],
  ['further fields', `a=b&${formOf(logoutToken())}&state=%F0%9F&logout=1&&=`, FORM, 200],
  ['thousands of fields', `${'a&'.repeat(7000)}${formOf(logoutToken())}`, FORM, 200],
  ['a token after thousands', `${'logout_token&'.repeat(1000)}`, FORM, 400],
  ['a field in another spelling', formOf(logoutToken()).replace('lo', '%6co'), FORM, 200],
  ['a token with escapes', formOf(logoutToken()).replaceAll('.', '%2e'), FORM, 200],
  ['two tokens', `${formOf(logoutToken())}&${formOf(logoutToken({ sid: 's2' }))}`, FORM, 400],
  ['the same token twice', `${formOf(logoutToken())}&${formOf(logoutToken())}`, FORM, 400],
  ['a second token that is empty', `${formOf(logoutToken())}&logout_token=`, FORM, 400],
  ['a second token in another spelling', `${formOf(logoutToken())}&%6cogout_token`, FORM, 400],
  ['a name in another case', formOf(logoutToken()).replace('logout', 'Logout'), FORM, 400],
  ['a list', formOf(logoutToken()).replace('=', '[]='), FORM, 400],
  ['a token with white space', `${formOf(logoutToken())}+`, FORM, 400],
  ['a token with a byte order mark', formOf(`\ufeff${logoutToken()}`), FORM, 400],
  ['an empty form', '', FORM, 400],
  ['an empty token', 'logout_token=', FORM, 400],
  ['no token', 'logout_token', FORM, 400],
  ['broken escapes', 'logout_token=%', FORM, 400],
  ['16 KiB', padded(16_384), FORM, 200],
  ['one byte more', padded(16_385), FORM, 413],
  ['much more', padded(3_000_000), FORM, 413],
  ['JSON', JSON.stringify({ logout_token: logoutToken() }), type('application/json'), 415],
  ['text', formOf(logoutToken()), type('text/plain'), 415],
  ['the token itself', logoutToken(), type('application/logout+jwt'), 415],
  ['multipart', MULTIPART, type('multipart/form-data; boundary=x'), 415],
  [
    'a form of a similar type',
    formOf(logoutToken()),
    type('application/x-www-form-urlencodedx'),
    415,
  ],
  ['a malformed type', formOf(logoutToken()), type('form'), 415],
  ['a length that is not its own', formOf(logoutToken()), { ...FORM, 'content-length': '5' }, 400],
  ['an empty body without a type', '', {}, 400],
  ['a body without a type', formOf(logoutToken()), { 'content-type': '' }, 415],
]

function type(value: string): Record<string, string> {
  return { 'content-type': value }
}

/** Applications whose own parsers and limits must not matter. */
const SERVERS: readonly [
  what: string,
  before: (app: FastifyInstance) => void,
  bodyLimit: number,
][] = [
  ['a small bodyLimit', () => {}, 10],
  ['a large bodyLimit and a form parser', (app) => void app.register(formbody), 10_000_000],
  [
    'a parser of everything',
    (app) =>
      app.addContentTypeParser('*', { parseAs: 'string' }, (_request, _body, done) =>
        done(null, { logout_token: 'x' }),
      ),
    1_048_576,
  ],
]

for (const [server, before, bodyLimit] of SERVERS) {
  for (const [what, body, headers, status] of BODIES) {
    test(`a body of ${what} is ${status} beside ${server}`, async (t) => {
      const { post } = await logoutApp(t, { before, bodyLimit })
      const response = await post(body, headers)
      const found = [response.statusCode, response.body, response.headers['cache-control']]
      assert.deepEqual(found, [status, status === 200 ? '' : INVALID, 'no-store'])
    })
  }
}

test('the bodies of the application stay its own', async (t) => {
  const app = bareApp(t)
  const revoked = denyList()
  await app.register(tenantAuth, {
    issuer: ISSUER,
    publicKeysUrl: 'http://127.0.0.1:9/',
    isRevoked: revoked,
  })
  // Called by hand it is in the scope of the application.
  await backchannelLogout(app, { revoked, clients: [CLIENT] })
  await app.register(formbody)
  app.post('/form', { config: { noauth: true } }, async ({ body }) => body)
  app.post('/json', { config: { noauth: true } }, async ({ body }) => body)
  const post = (url: string, payload: string, headers: object) =>
    app.inject({ method: 'POST', url, payload, headers: { ...headers } })
  assert.deepEqual((await post('/form', 'a=b', FORM)).json(), { a: 'b' })
  assert.deepEqual((await post('/json', '{"a":7}', type('application/json'))).json(), { a: 7 })
  assert.equal((await post('/form', `a=${'x'.repeat(20_000)}`, FORM)).statusCode, 200)
})

test('a form without a length is read as far as it may go', async (t) => {
  const { app } = await logoutApp(t)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const form = formOf(logoutToken())
  const lines = [
    `POST ${URL_OF_LOGOUT} HTTP/1.1`,
    'host: x',
    'connection: close',
    `content-type: ${FORM['content-type']}`,
  ]
  const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
  const chunked = async (text: string) =>
    (
      await rawRequest(app, ...lines, 'transfer-encoding: chunked', '', `${chunk(text)}0`, '')
    ).slice(9, 12)
  assert.equal(await chunked(form), '200')
  assert.equal(await chunked(padded(16_384)), '200')
  assert.equal(await chunked(padded(16_385)), '413')
})

test('an error of a hook of the application is answered by the application', async (t) => {
  const { post } = await logoutApp(t, {
    before: (app) => {
      app.addHook('preParsing', async () => {
        throw Object.assign(new Error('too many'), { statusCode: 429, code: 'TOO_MANY' })
      })
      app.setErrorHandler((error: Error, _request, reply) =>
        reply.code(429).send(`own: ${error.message}`),
      )
    },
  })
  const { statusCode, body } = await post(formOf(logoutToken()))
  assert.deepEqual([statusCode, body], [429, 'own: too many'])
})
