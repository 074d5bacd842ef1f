import assert from 'node:assert/strict'
import { test } from 'node:test'
import { backchannelLogout, denyList } from '../../lib/entrypoints/revocation/index.ts'
import tenantAuth, { type AuthOptions } from '../../lib/index.ts'
import { bareApp } from '../helpers/app/guarded-app.ts'
import {
  assertNoLogout,
  CLIENT,
  FORM,
  formOf,
  LOGOUT,
  logoutApp,
  logoutClaims,
  logoutToken,
  URL_OF_LOGOUT,
} from '../helpers/app/logout-app.ts'
import { forge, forgeKey, partsOf } from '../helpers/tokens/forge.ts'
import { AUDIENCE, goodToken, KEY } from '../helpers/tokens/probe.ts'

const NOW = Date.UTC(2026, 0, 1, 12, 0, 0, 600)
const SECOND = Math.floor(NOW / 1000)
const BACKCHANNEL = 'http://schemas.openid.net/event/backchannel-logout'

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
      else assertNoLogout(response, String(typ))
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
    else assertNoLogout(response, what)
    assert.equal(revoked.size(), isGood ? 1 : 0)
  })
}

/** Logout tokens as servers write them: members of the header, and claims. */
const SHAPES: readonly [server: string, header: object, over: object][] = [
  ['Keycloak', { typ: 'JWT' }, { typ: 'Logout', azp: 'lunch-web' }],
  [
    'Keycloak, with offline tokens',
    { typ: 'JWT' },
    { events: { ...LOGOUT, revoke_offline_access: true } },
  ],
  ['Zitadel', { typ: undefined }, { aud: ['lunch-web'], sub: undefined }],
  ['oidc-provider', { typ: 'logout+jwt' }, { sid: undefined }],
]

for (const [server, header, over] of SHAPES) {
  test(`a logout token in the shape of ${server} is good`, async (t) => {
    const { logOut } = await logoutApp(t)
    assert.equal((await logOut(logoutToken(over, header))).statusCode, 200)
  })
}

test('a member of events that is lent by a prototype is none', async (t) => {
  const { logOut } = await logoutApp(t)
  const payload = JSON.stringify(logoutClaims()).replace(
    JSON.stringify(LOGOUT),
    `{"__proto__":${JSON.stringify(LOGOUT)}}`,
  )
  assert.match(payload, /__proto__/)
  assertNoLogout(await logOut(forge(KEY, { header: { typ: 'logout+jwt' }, payload })), 'inherited')
})

test('members of Object.prototype are no claims of a logout token', async (t) => {
  const { logOut, status } = await logoutApp(t)
  const lent = { events: LOGOUT, nonce: 'n', ...LOGOUT }
  for (const [name, value] of Object.entries(lent)) {
    Object.defineProperty(Object.prototype, name, { value, configurable: true, writable: true })
  }
  try {
    assertNoLogout(await logOut(logoutToken({ events: undefined })), 'inherited events')
    assertNoLogout(await logOut(logoutToken({ events: {} })), 'an inherited event')
    assert.equal(await status({ events: {} }), 200, 'an access token with events of its own')
    assert.equal((await logOut(logoutToken())).statusCode, 200, 'an inherited nonce is none')
  } finally {
    for (const name of Object.keys(lent)) Reflect.deleteProperty(Object.prototype, name)
  }
})

test('where the guard checks no issuer, a logout token has to name one', async (t) => {
  const app = bareApp(t)
  const revoked = denyList()
  const publicKeys = { keys: [KEY.publicJwk] }
  await app.register(tenantAuth, { publicKeys, audience: AUDIENCE, isRevoked: revoked })
  await app.register(backchannelLogout, { revoked, clients: [CLIENT] })
  app.get('/me', async () => 'let in')
  const post = (iss: unknown) =>
    app.inject({
      method: 'POST',
      url: URL_OF_LOGOUT,
      headers: FORM,
      payload: formOf(logoutToken({ iss })),
    })
  for (const iss of [undefined, null, '', 7]) assertNoLogout(await post(iss), String(iss))
  assert.equal(revoked.size(), 0)
  assert.equal((await post('https://any.test')).statusCode, 200)
  const statusOf = async (iss: string | undefined) => {
    const headers = { authorization: `Bearer ${goodToken({ iss, sid: 's1' })}` }
    return (await app.inject({ url: '/me', headers })).statusCode
  }
  assert.deepEqual([await statusOf('https://any.test'), await statusOf(undefined)], [401, 200])
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
    assertNoLogout(await logOut(token()), what)
    assert.equal(revoked.size(), 0)
  })
}

test('a logout token that is too large to be read before its signature is judged by the same rules', async (t) => {
  const { logOut } = await logoutApp(t)
  const padding = 'x'.repeat(5000)
  assert.equal((await logOut(logoutToken({ padding }))).statusCode, 200)
  for (const over of [{ aud: 'other' }, { events: {} }, { nonce: 'n' }, { exp: 1 }]) {
    assertNoLogout(await logOut(logoutToken({ ...over, padding })), JSON.stringify(over))
  }
})
