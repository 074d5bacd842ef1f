import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LightMyRequestResponse } from 'fastify'
import type { AuthOptions } from '../../lib/index.ts'
import { LOGOUT, logoutApp, logoutClaims, logoutToken } from '../helpers/app/logout-app.ts'
import { forge, forgeKey, partsOf } from '../helpers/tokens/forge.ts'
import { AUDIENCE, goodClaims, goodToken, KEY } from '../helpers/tokens/probe.ts'

const NOW = Date.UTC(2026, 0, 1, 12, 0, 0, 600)
const SECOND = Math.floor(NOW / 1000)
const BACKCHANNEL = 'http://schemas.openid.net/event/backchannel-logout'

function assertBad(response: LightMyRequestResponse, what: string): void {
  assert.deepEqual([response.statusCode, response.body], [400, '{"error":"invalid_request"}'], what)
  assert.equal(response.headers['content-type'], 'application/json; charset=utf-8')
  assert.equal(response.headers['cache-control'], 'no-store')
}

/** Spellings of `typ`, and whether it is that of a logout token. */
const TYPES: readonly [typ: unknown, isGood: boolean][] = [
  ['logout+jwt', true],
  ['LOGOUT+jwt', true],
  ['application/logout+jwt', true],
  ['Application/Logout+JWT', true],
  ['JWT', true],
  ['jwt', true],
  ['application/jwt', true],
  [undefined, true],
  ['at+jwt', false],
  ['secevent+jwt', false],
  ['dpop+jwt', false],
  ['logout', false],
  ['logout+jwt ', false],
  ['text/logout+jwt', false],
  ['', false],
  [null, false],
  [['logout+jwt'], false],
]

for (const tokenTypes of [undefined, ['at+jwt'], ['at+jwt', 'secevent+jwt']]) {
  test(`the typ of a logout token is its own where access tokens have ${tokenTypes}`, async (t) => {
    const { logOut } = await logoutApp(t, { auth: tokenTypes ? { tokenTypes } : {} })
    for (const [typ, isGood] of TYPES) {
      const response = await logOut(logoutToken({}, { typ }))
      if (isGood) assert.equal(response.statusCode, 200, String(typ))
      else assertBad(response, String(typ))
    }
  })
}

/** Claims, and whether they are those of a logout token. */
const CLAIMS: readonly [what: string, over: object, isGood: boolean][] = [
  ['aud in a list', { aud: ['lunch-web'] }, true],
  ['aud among others', { aud: ['other', 'lunch-web'] }, true],
  ['the second client', { aud: 'lunch-app' }, true],
  ['another aud', { aud: 'other-web' }, false],
  ['the aud of the API', { aud: AUDIENCE }, false],
  ['no aud', { aud: undefined }, false],
  ['an empty list as aud', { aud: [] }, false],
  ['a number in the list of aud', { aud: ['lunch-web', 7] }, false],
  ['another case of aud', { aud: 'Lunch-web' }, false],
  ['another issuer', { iss: 'https://other.test' }, false],
  ['no issuer', { iss: undefined }, false],
  ['a list of issuers', { iss: ['https://authority.test'] }, false],
  ['a nonce', { nonce: 'n' }, false],
  ['a nonce that is null', { nonce: null }, false],
  ['no jti', { jti: undefined }, false],
  ['an empty jti', { jti: '' }, false],
  ['a jti that is a number', { jti: 7 }, false],
  ['a user alone', { sid: undefined }, true],
  ['a session alone', { sub: undefined }, true],
  ['neither', { sub: undefined, sid: undefined }, false],
  ['an empty session', { sid: '' }, false],
  ['an empty user', { sub: '' }, false],
  ['a session that is null', { sid: null }, false],
  ['a user that is null', { sub: null }, false],
  ['a session that is a number', { sid: 7 }, false],
  ['a session that is a list', { sid: ['s1'] }, false],
  ['a user that is an object', { sub: { id: 'alice' } }, false],
  ['a user that is a list', { sub: ['alice'] }, false],
  ['no iat', { iat: undefined }, false],
  ['an iat that is a text', { iat: String(SECOND) }, false],
  ['an iat just within the tolerance', { iat: SECOND + 5 }, true],
  ['an iat beyond the tolerance', { iat: SECOND + 6 }, false],
  ['an iat long ago', { iat: 0 }, true],
  ['an iat before all dates', { iat: -1e300 }, false],
  ['an iat before all dates, by little', { iat: -8_640_000_000_002 }, false],
  ['an iat with a fraction', { iat: SECOND - 0.5 }, true],
  ['no exp', { exp: undefined }, false],
  ['an exp that is a text', { exp: String(SECOND + 60) }, false],
  ['an exp just within the tolerance', { exp: SECOND - 4 }, true],
  ['an exp beyond the tolerance', { exp: SECOND - 5 }, false],
  ['an nbf to come', { nbf: SECOND + 6 }, false],
  ['a member of events with content', { events: { [BACKCHANNEL]: { a: 1 } } }, true],
  ['further events', { events: { ...LOGOUT, 'urn:other': {} } }, true],
  ['no events', { events: undefined }, false],
  ['events that are null', { events: null }, false],
  ['events that are a list', { events: [BACKCHANNEL] }, false],
  ['events that are a text', { events: BACKCHANNEL }, false],
  ['another event', { events: { 'urn:other': {} } }, false],
  ['an event of a similar name', { events: { [`${BACKCHANNEL}/`]: {} } }, false],
  ['an event that is null', { events: { [BACKCHANNEL]: null } }, false],
  ['an event that is a list', { events: { [BACKCHANNEL]: [] } }, false],
  ['an event that is a text', { events: { [BACKCHANNEL]: 'yes' } }, false],
  ['an event that says true', { events: { [BACKCHANNEL]: true } }, false],
  ['a cnf', { cnf: { jkt: 'x' } }, true],
  ['a malformed cnf', { cnf: 'x' }, true],
  ['a malformed act', { act: 7 }, true],
  ['no resources, and rights of another kind', { resources: 7 }, true],
]

for (const [what, over, isGood] of CLAIMS) {
  test(`a logout token with ${what} is ${isGood ? 'good' : 'bad'}`, async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: NOW })
    const plugin = { clients: ['lunch-web', 'lunch-app'] }
    const { logOut, revoked } = await logoutApp(t, { plugin })
    const response = await logOut(logoutToken(over))
    if (isGood) assert.equal(response.statusCode, 200)
    else assertBad(response, what)
    assert.equal(revoked.size(), isGood ? 1 : 0)
  })
}

test('a member of events that is lent by a prototype is none', async (t) => {
  const { logOut } = await logoutApp(t)
  const payload = JSON.stringify(logoutClaims()).replace(
    JSON.stringify(LOGOUT),
    `{"__proto__":${JSON.stringify(LOGOUT)}}`,
  )
  assert.match(payload, /__proto__/)
  assertBad(await logOut(forge(KEY, { header: { typ: 'logout+jwt' }, payload })), 'inherited')
})

test('members of Object.prototype are no claims of a logout token', async (t) => {
  const { logOut, status } = await logoutApp(t)
  const lent = { events: LOGOUT, nonce: 'n', ...LOGOUT }
  for (const [name, value] of Object.entries(lent)) {
    Object.defineProperty(Object.prototype, name, { value, configurable: true, writable: true })
  }
  try {
    assertBad(await logOut(logoutToken({ events: undefined })), 'inherited events')
    assertBad(await logOut(logoutToken({ events: {} })), 'an inherited event')
    assert.equal(await status({ events: {} }), 200, 'an access token with events of its own')
    assert.equal((await logOut(logoutToken())).statusCode, 200, 'an inherited nonce is none')
  } finally {
    for (const name of Object.keys(lent)) Reflect.deleteProperty(Object.prototype, name)
  }
})

/** Tokens whose signature does not prove them, or that are none. */
const UNPROVED: readonly [what: string, token: () => string, auth?: AuthOptions][] = [
  ['signed by a stranger', () => logoutToken({}, {}, forgeKey('ES256', 'probe'))],
  ['of an unknown key', () => logoutToken({}, { kid: 'other' })],
  ['without a signature', () => logoutToken().replace(/[^.]*$/, '')],
  ['with alg none', () => logoutToken({}, { alg: 'none' })],
  ['with an extension', () => logoutToken({}, { crit: ['exp'] })],
  ['of an algorithm that the issuer does not use', logoutToken, { algorithms: ['EdDSA'] }],
  ['longer than maxTokenLength', logoutToken, { maxTokenLength: 100 }],
  ['with other claims', () => bent({ sid: 's2' })],
  ['of two parts', () => logoutToken().replace(/\.[^.]*$/, '')],
  ['that is no JWT', () => 'opaque'],
  ['that is empty', () => ''],
]

function bent(over: object): string {
  const [header, , signature] = partsOf(logoutToken())
  return `${header}.${Buffer.from(JSON.stringify(logoutClaims(over))).toString('base64url')}.${signature}`
}

for (const [what, token, auth = {}] of UNPROVED) {
  test(`a logout token ${what} logs nobody out`, async (t) => {
    const { logOut, revoked } = await logoutApp(t, { auth })
    assertBad(await logOut(token()), what)
    assert.equal(revoked.size(), 0)
  })
}

test('a logout token that is too large to be read before its signature is judged by the same rules', async (t) => {
  const { logOut } = await logoutApp(t)
  const padding = 'x'.repeat(5000)
  assert.equal((await logOut(logoutToken({ padding }))).statusCode, 200)
  for (const over of [{ aud: 'other' }, { events: {} }, { nonce: 'n' }, { exp: 1 }]) {
    assertBad(await logOut(logoutToken({ ...over, padding })), JSON.stringify(over))
  }
})

test('no other kind of token is a logout token', async (t) => {
  const { logOut, revoked } = await logoutApp(t, { plugin: { clients: ['lunch-web', AUDIENCE] } })
  const now = Math.floor(Date.now() / 1000)
  const idToken = { aud: 'lunch-web', sid: 's1', jti: 'j', nonce: 'n', auth_time: now }
  const kinds: readonly [what: string, token: string][] = [
    ['an access token', goodToken({ sid: 's1', jti: 'j' })],
    ['an access token without typ', goodToken({ sid: 's1', jti: 'j' }, { typ: undefined })],
    ['an access token that says it is one', goodToken({ jti: 'j' }, { typ: 'logout+jwt' })],
    ['an ID token', goodToken(idToken, { typ: 'JWT' })],
    ['an ID token without nonce', goodToken({ ...idToken, nonce: undefined }, { typ: 'JWT' })],
    ['an access token with a logout', goodToken({ jti: 'j', events: LOGOUT })],
    ['an ID token with a logout', goodToken({ ...idToken, events: LOGOUT }, { typ: 'JWT' })],
  ]
  for (const [what, token] of kinds) assertBad(await logOut(token), what)
  assert.equal(revoked.size(), 0)
})

/** Values of `events`, and whether a token with them is a logout token. */
const EVENTS: readonly [events: string, isLogout: boolean][] = [
  [JSON.stringify(LOGOUT), true],
  [`{"${BACKCHANNEL}":null}`, true],
  [`{"${BACKCHANNEL}":false}`, true],
  [`{"urn:other":{},"${BACKCHANNEL}":[]}`, true],
  ['{}', false],
  ['null', false],
  ['[]', false],
  [`["${BACKCHANNEL}"]`, false],
  [`"${BACKCHANNEL}"`, false],
  ['{"urn:other":{}}', false],
  [`{"__proto__":{"${BACKCHANNEL}":{}}}`, false],
]

/** Guards that would take the token of a logout for an access token. */
const GUARDS: readonly [what: string, auth: AuthOptions][] = [
  ['', {}],
  [' that takes its typ', { tokenTypes: ['logout+jwt', 'at+jwt', 'JWT'] }],
  [
    ' that maps claims',
    { mapClaims: ({ events: _, ...claims }) => ({ sub: 'mapped', ...claims }) },
  ],
  [' that ignores bindings', { confirmation: 'ignore' }],
]

for (const [what, auth] of GUARDS) {
  test(`a logout token opens no route of a guard${what}, whatever its typ and aud`, async (t) => {
    const { app } = await logoutApp(t, { auth })
    app.get('/guests', { config: { guests: true } }, async () => 'let in')
    const typs = ['logout+jwt', 'at+jwt', 'JWT', undefined]
    for (const padding of ['', 'x'.repeat(5000)]) {
      for (const [events, isLogout] of EVENTS) {
        for (const typ of typs) {
          const payload = JSON.stringify(goodClaims({ padding })).replace(
            /}$/,
            `,"events":${events}}`,
          )
          const token = forge(KEY, { header: { typ }, payload })
          const headers = { authorization: `Bearer ${token}` }
          const { tokenTypes = ['at+jwt', 'JWT', undefined] } = auth
          const isKnown = tokenTypes.some((type) => type === typ)
          for (const url of ['/me', '/guests']) {
            const { statusCode } = await app.inject({ url, headers })
            assert.equal(statusCode, isLogout || !isKnown ? 401 : 200, `${events} ${typ} ${url}`)
          }
        }
      }
    }
  })
}
