import assert from 'node:assert/strict'
import { after, before, describe, it, type TestContext } from 'node:test'
import { assertRefused } from '../helpers/app/refusals.ts'
import { ageByDate } from '../helpers/processes/age-by-date.ts'
import { type OidcServer, OPAQUE_API, startOidcServer } from '../helpers/servers/oidc-server.ts'
import { fromMemberships } from '../helpers/tokens/from-memberships.ts'
import { machineToken, revokeUserToken, userTokens } from '../helpers/tokens/oidc-tokens.ts'
import { introspectingApp } from './introspection.ts'

const clientSecret = 'the secret of the lunch API, long enough'

/** The API as a client that only asks about tokens. */
const LUNCH = {
  client_id: 'lunch',
  client_secret: clientSecret,
  grant_types: [],
  redirect_uris: [],
  response_types: [],
}

/** No user stands behind a machine's token, and the server's answer has no `sub` then. */
const mapClaims = (claims: Record<string, unknown>) =>
  fromMemberships({ sub: `client:${claims['client_id']}`, ...claims })

describe('with opaque access tokens of a real authorization server', () => {
  let server: OidcServer
  before(async () => {
    server = await startOidcServer([LUNCH])
  })
  after(() => server.close())

  /** The application, on a clock that the test moves. */
  async function start(t: TestContext, secret = clientSecret) {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    ageByDate(t)
    const app = await introspectingApp(server.issuer, secret, { mapClaims })
    t.after(() => app.close())
    return {
      get: (tenant: string, token: string) =>
        app.inject({ url: `/${tenant}/menu`, headers: { authorization: `Bearer ${token}` } }),
      pass: (seconds: number) => t.mock.timers.tick(seconds * 1000),
    }
  }

  it('lets a user in who has logged in, until the token is revoked', async (t) => {
    const { get, pass } = await start(t)
    const { accessToken, idToken } = await userTokens(server, OPAQUE_API)
    assert.equal(accessToken.includes('.'), false)
    const answer = await get('lazy-raccoon', accessToken)
    assert.deepEqual(answer.json(), { tenant: 'lazy-raccoon', sub: 'user-1' })
    assertRefused(await get('busy-beaver', accessToken), 'ERR_AUTH_TENANT_FORBIDDEN')
    // It is a JWT for the client, and not for this API.
    assertRefused(await get('lazy-raccoon', idToken), 'ERR_AUTH_TOKEN_INVALID')

    await revokeUserToken(server, accessToken)
    pass(30)
    assertRefused(await get('lazy-raccoon', accessToken), 'ERR_AUTH_TOKEN_INVALID')
  })

  it('gives a machine what its token grants', async (t) => {
    const { get } = await start(t)
    const token = await machineToken(server, OPAQUE_API)
    const answer = await get('lazy-raccoon', token)
    assert.deepEqual(answer.json(), { tenant: 'lazy-raccoon', sub: 'client:kitchen' })
  })

  it('refuses a token that the server has never issued', async (t) => {
    const { get } = await start(t)
    assertRefused(await get('lazy-raccoon', 'never-issued'), 'ERR_AUTH_TOKEN_INVALID')
  })

  it('decides about no token while the server refuses the API itself', async (t) => {
    const { get } = await start(t, 'another secret of the same length !!')
    const { accessToken } = await userTokens(server, OPAQUE_API)
    const answer = await get('lazy-raccoon', accessToken)
    assertRefused(answer, 'ERR_AUTH_INTROSPECTION_UNAVAILABLE')
  })
})
