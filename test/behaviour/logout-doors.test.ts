import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AuthOptions } from '../../lib/index.ts'
import { assertNoLogout, LOGOUT, logoutApp } from '../helpers/app/logout-app.ts'
import { forge } from '../helpers/tokens/forge.ts'
import { AUDIENCE, goodClaims, goodToken, KEY } from '../helpers/tokens/probe.ts'

const BACKCHANNEL = 'http://schemas.openid.net/event/backchannel-logout'

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
  for (const [what, token] of kinds) assertNoLogout(await logOut(token), what)
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
