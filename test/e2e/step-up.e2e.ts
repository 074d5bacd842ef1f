import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import Fastify from 'fastify'
import { decodeJwt } from 'jose'
import * as client from 'openid-client'
import tenantAuth from '../../lib/index.ts'
import { wantedLogin } from '../examples/step-up.ts'
import { Browser } from '../helpers/processes/browser.ts'
import { API, CALLBACK, startOidcServer } from '../helpers/servers/oidc-server.ts'
import { discover } from '../helpers/tokens/oidc-tokens.ts'

const PAYMENTS = {
  client_id: 'payments',
  application_type: 'native',
  token_endpoint_auth_method: 'none',
  redirect_uris: [CALLBACK],
  grant_types: ['authorization_code', 'refresh_token'],
} as const

/** Seconds, by which a login may be old, and clocks may differ. */
const MAX_AGE = 3

test('a user steps up by the challenge, gets too old, is not refreshed, and steps up again', async (t) => {
  const { redirect_uris, grant_types, ...rest } = PAYMENTS
  const server = await startOidcServer([
    { ...rest, redirect_uris: [...redirect_uris], grant_types: [...grant_types] },
  ])
  t.after(() => server.close())
  const app = Fastify()
  t.after(() => app.close())
  await app.register(tenantAuth, {
    publicKeysUrl: `${server.issuer}/jwks`,
    issuer: server.issuer,
    audience: API,
    clockTolerance: 0,
  })
  const stepUp = { acr: ['phr', 'phrh'], maxAge: MAX_AGE }
  app.get('/account', { config: { stepUp, userInfo: true } }, async ({ userInfo }) => userInfo.sub)
  app.get('/any', async () => 'any')
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  const payments = await discover(server, 'payments', client.None())
  const browser = new Browser()

  const logIn = async (wanted: Record<string, string>) => {
    const pkceCodeVerifier = client.randomPKCECodeVerifier()
    const login = client.buildAuthorizationUrl(payments, {
      redirect_uri: CALLBACK,
      scope: 'openid menu offline_access',
      // This server would not ask a user who is logged in for another kind of login.
      prompt: 'login consent',
      resource: API,
      code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      ...wanted,
    })
    const arrived = await browser.follow(login, CALLBACK)
    const checks = { pkceCodeVerifier }
    return client.authorizationCodeGrant(payments, arrived, checks, { resource: API })
  }

  /** What the client hears: the user, or the login that is wanted. */
  const ask = async (token: string) => {
    try {
      const url = new URL('/account', address)
      const response = await client.fetchProtectedResource(payments, token, url, 'GET')
      return await response.text()
    } catch (error) {
      return wantedLogin(error) ?? error
    }
  }

  const wanted = { acr_values: 'phr phrh', max_age: String(MAX_AGE) }
  const first = await logIn({})
  assert.deepEqual(await ask(first.access_token), wanted)

  const second = await logIn(wanted)
  assert.equal(decodeJwt(second.access_token)['acr'], 'phr')
  assert.equal(await ask(second.access_token), 'user-1')

  await sleep((MAX_AGE + 1) * 1000)
  assert.deepEqual(await ask(second.access_token), wanted)
  const refreshed = await client.refreshTokenGrant(payments, second.refresh_token ?? '', {
    resource: API,
  })
  const [before, after] = [second, refreshed].map((each) => decodeJwt(each.access_token))
  assert.equal(after?.['auth_time'], before?.['auth_time'])
  assert.ok(Number(after?.iat) > Number(before?.iat), 'a new iat')
  assert.deepEqual(await ask(refreshed.access_token), wanted)
  const headers = { authorization: `Bearer ${refreshed.access_token}` }
  assert.equal((await app.inject({ url: '/any', headers })).statusCode, 200)

  const third = await logIn(wanted)
  assert.equal(await ask(third.access_token), 'user-1')
})
