import assert from 'node:assert/strict'
import { test } from 'node:test'
import Fastify from 'fastify'
import { errors, tenantAuth } from '../../../lib/index.ts'
import { outcomeOf, rawRequest } from '../../helpers/app/raw-request.ts'
import { outcome } from '../../helpers/app/refusals.ts'
import { assertTokenRefused, goodToken, KEY, startProbe } from '../../helpers/tokens/probe.ts'

const TOKEN = goodToken()
const MISSING = '401 ERR_AUTH_TOKEN_MISSING'
const INVALID = '401 ERR_AUTH_TOKEN_INVALID'

/** One header of each kind, and all that only the gate behind can refuse. */
const HEADERS: [header: string, outcome: string][] = [
  [`Bearer ${TOKEN}`, '200'],
  ['', MISSING],
  ['Basic YWxpY2U6c2VjcmV0', MISSING],
  ['Bearer', INVALID],
  ['Bearer x', INVALID],
  ['Bearer null', INVALID],
  [`Bearer "${TOKEN}"`, INVALID],
  [`Bearer ${TOKEN} ${TOKEN}`, INVALID],
  [`Bearer ${TOKEN}, Bearer ${TOKEN}`, INVALID],
  [`Bearer ${TOKEN},`, INVALID],
  [`Bearer token=${TOKEN}`, INVALID],
  [`Bearer Bearer ${TOKEN}`, INVALID],
  [`Bearer ${TOKEN}\u00e9`, INVALID],
  [`Bearer \u00e9${TOKEN}`, INVALID],
]

test('a request is let in by one bearer token in the Authorization header, and by nothing else', async (t) => {
  const { app } = await startProbe(t)
  for (const [authorization, expected] of HEADERS) {
    const response = await app.inject({ url: '/me', headers: { authorization } })
    assert.equal(outcome(response), expected, authorization.replaceAll(TOKEN, '<token>'))
  }
})

test('the same holds on the wire, where white space around a header does not count', async (t) => {
  const { app } = await startProbe(t)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const lines: [outcome: string, ...lines: string[]][] = [
    ['200', `Authorization: Bearer ${TOKEN}`],
    ['200', `AUTHORIZATION:\t bearer ${TOKEN} \t`],
    [INVALID, 'Authorization: Bearer '],
    [INVALID, `Authorization: Bearer ${TOKEN}\xe9`],
    [INVALID, `Authorization: Bearer\t${TOKEN}`],
    [MISSING, 'Authorization:'],
    [MISSING, 'Authorization:   '],
    [MISSING, `Proxy-Authorization: Bearer ${TOKEN}`],
    [MISSING, `X-Authorization: Bearer ${TOKEN}`],
    [MISSING, `Cookie: access_token=${TOKEN}`],
  ]
  for (const [expected, ...headers] of lines) {
    const answer = await rawRequest(
      app,
      'GET /me HTTP/1.1',
      'Host: x',
      'Connection: close',
      ...headers,
    )
    assert.equal(outcomeOf(answer), expected, headers.join('|').replaceAll(TOKEN, '<token>'))
  }
})

const PAIRS = [
  [`Authorization: Bearer ${TOKEN}`, `Authorization: Bearer ${TOKEN}`],
  [`Authorization: Bearer ${TOKEN}`, `authorization: Bearer ${TOKEN}`],
  [`Authorization: Bearer ${TOKEN}`, 'Authorization: Bearer x'],
  [`Authorization: Bearer ${TOKEN}`, 'Authorization: Basic YTpi'],
  [`Authorization: Bearer ${TOKEN}`, 'Authorization:'],
  ['Authorization: Basic YTpi', `Authorization: Bearer ${TOKEN}`],
  ['Authorization:', `Authorization: Bearer ${TOKEN}`],
  ['Authorization: Bearer', `Authorization: Bearer ${TOKEN}`],
  [`Authorization: Bearer ${TOKEN}`, 'X-Between: 1', `AUTHORIZATION: Bearer ${TOKEN}`],
] as const

for (const joinDuplicateHeaders of [false, true]) {
  test(`two Authorization lines are refused (joined by Node: ${joinDuplicateHeaders})`, async (t) => {
    const app = Fastify({ http: { joinDuplicateHeaders } })
    t.after(() => app.close())
    await app.register(tenantAuth, { publicKeys: { keys: [KEY.publicJwk] } })
    app.get('/me', async () => 'handled')
    await app.listen({ port: 0, host: '127.0.0.1' })
    const start = ['GET /me HTTP/1.1', 'Host: x', 'Connection: close']
    const one = await rawRequest(app, ...start, PAIRS[0][0])
    assert.equal(outcomeOf(one), '200')
    for (const pair of PAIRS) {
      const answer = await rawRequest(app, ...start, ...pair)
      assert.equal(outcomeOf(answer), INVALID, pair.join('|').replaceAll(TOKEN, '<token>'))
    }
  })
}

test('a request that Node itself refuses never reaches a handler', async (t) => {
  const probe = await startProbe(t)
  await probe.app.listen({ port: 0, host: '127.0.0.1' })
  const broken = [
    `Authorization: Bearer ${TOKEN}\0`,
    `Authorization: Bearer ${TOKEN.slice(0, 9)}\x01${TOKEN.slice(9)}`,
    `Authorization : Bearer ${TOKEN}`,
    `Authorization\0: Bearer ${TOKEN}`,
    `Authorization: Bearer\r\n ${TOKEN}`,
    `Authorization: Bearer ${TOKEN}\rX: 1`,
  ]
  for (const line of broken) {
    const answer = await rawRequest(
      probe.app,
      'GET /me HTTP/1.1',
      'Host: x',
      'Connection: close',
      line,
    )
    assert.match(outcomeOf(answer), /^40[01]/, JSON.stringify(line.replaceAll(TOKEN, '<token>')))
  }
  assert.equal(probe.handled.count, 0)
})

test('a token elsewhere is not looked at', async (t) => {
  const { app } = await startProbe(t)
  const requests = [
    { url: `/me?access_token=${TOKEN}` },
    { url: `/me?token=${TOKEN}&Authorization=Bearer%20${TOKEN}` },
    { url: '/me', cookies: { access_token: TOKEN, authorization: `Bearer ${TOKEN}` } },
    {
      url: '/me',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: `access_token=${TOKEN}`,
    },
    { url: '/me', headers: { 'x-access-token': TOKEN, 'x-forwarded-access-token': TOKEN } },
  ]
  for (const request of requests) {
    const response = await app.inject(request)
    assert.equal(response.json().code, 'ERR_AUTH_TOKEN_MISSING')
    assert.equal(response.headers['www-authenticate'], 'Bearer realm="api"')
  }
})

test('headers that name another path or method change nothing', async (t) => {
  const { app } = await startProbe(t, {})
  for (const name of [
    'x-forwarded-uri',
    'x-original-url',
    'x-rewrite-url',
    'x-http-method-override',
  ]) {
    for (const value of ['/nowhere', '/health', 'OPTIONS', 'HEAD']) {
      const response = await app.inject({ url: '/me', headers: { [name]: value } })
      assert.equal(response.statusCode, 401, `${name}: ${value}`)
    }
  }
})

test('tokenFrom is asked only where there is no Authorization header', async (t) => {
  let asked = 0
  const { app } = await startProbe(t, {
    tokenFrom: (request) => {
      asked += 1
      return request.headers['x-token'] === undefined ? null : String(request.headers['x-token'])
    },
  })
  const askWith = async (headers: Record<string, string>) =>
    (await app.inject({ url: '/me', headers })).json().code ?? 'let in'
  for (const authorization of ['', 'Basic YTpi', 'Bearer', 'Bearer x']) {
    assert.match(await askWith({ authorization, 'x-token': TOKEN }), /ERR_AUTH_TOKEN_/)
  }
  assert.equal(await askWith({ authorization: `Bearer ${TOKEN}`, 'x-token': 'x' }), 'let in')
  assert.equal(asked, 0)
  assert.equal(await askWith({ 'x-token': TOKEN }), 'let in')
  assert.equal(await askWith({ 'x-token': `${TOKEN}=` }), 'ERR_AUTH_TOKEN_INVALID')
  // The place is the application's own, so no scheme is cut off.
  assert.equal(await askWith({ 'x-token': `Bearer ${TOKEN}` }), 'ERR_AUTH_TOKEN_INVALID')
  assert.equal(await askWith({ 'x-token': '' }), 'ERR_AUTH_TOKEN_MISSING')
  assert.equal(await askWith({}), 'ERR_AUTH_TOKEN_MISSING')
  assert.equal(asked, 5)
})

const ANSWERS: [what: string, tokenFrom: () => unknown, code: string][] = [
  ['null', () => null, 'ERR_AUTH_TOKEN_MISSING'],
  ['nothing', () => undefined, 'ERR_AUTH_TOKEN_MISSING'],
  ['a number', () => 1, 'ERR_AUTH_TOKEN_INVALID'],
  ['a list', () => [TOKEN], 'ERR_AUTH_TOKEN_INVALID'],
  ['a String object', () => new String(TOKEN), 'ERR_AUTH_TOKEN_INVALID'],
  ['a promise', async () => TOKEN, 'ERR_AUTH_TOKEN_INVALID'],
  ['a promise that fails', async () => assert.fail('on purpose'), 'ERR_AUTH_TOKEN_INVALID'],
  ['an exception', () => assert.fail('on purpose'), 'ERR_AUTH_TOKEN_INVALID'],
  [
    'a refusal of the application’s own choice',
    () => {
      throw new errors.ERR_AUTH_TOKEN_MISSING()
    },
    'ERR_AUTH_TOKEN_MISSING',
  ],
]

for (const [what, tokenFrom, code] of ANSWERS) {
  test(`where tokenFrom gives ${what} the answer is ${code}`, async (t) => {
    // A value that a JavaScript application may give all the same.
    const options: object = { tokenFrom }
    const { app } = await startProbe(t, options)
    const response = await app.inject('/me')
    assert.equal(response.statusCode, 401)
    assert.equal(response.json().code, code)
  })
}

test('mapClaims makes user info of the claims of another server', async (t) => {
  const { app, ask } = await startProbe(t, {
    mapClaims: ({ oid, groups }) => ({
      sub: String(oid),
      resources: Object.fromEntries([groups].flat().map((group) => [String(group), ['menu:read']])),
    }),
  })
  const token = goodToken({
    sub: undefined,
    oid: 'a1',
    groups: ['acme', '__proto__'],
    resources: 1,
  })
  assert.deepEqual((await ask(token)).json().sub, 'a1')
  const response = await ask(token, '/t/acme')
  assert.deepEqual(response.json(), { tenant: 'acme', resources: ['menu:read'] })
  assert.equal((await app.inject('/me')).statusCode, 401)
  assertTokenRefused(await ask(goodToken({ exp: 1, oid: 'a1' })), 'expired')
})
