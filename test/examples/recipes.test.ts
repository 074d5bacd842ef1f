import assert from 'node:assert/strict'
import test from 'node:test'
import Fastify from 'fastify'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import tenantAuth, { type AuthOptions } from '../../lib/index.ts'
import {
  auth0Token,
  cognitoAccessToken,
  entraIdToken,
  keycloakToken,
  seacatToken,
} from '../helpers/tokens/vendor-tokens.ts'
import { forAuth0, forCognito, forEntraId, forKeycloak, forSeacatAuth } from './recipes.ts'

/**
 * The options, a token in the server's documented shape, its user's tenant, and the rights there.
 */
const RECIPES: readonly [
  server: string,
  options: AuthOptions,
  token: object,
  tenant: string,
  held: readonly string[],
][] = [
  [
    'Keycloak',
    forKeycloak,
    { ...keycloakToken, iss: 'https://sso.example.com/realms/lunch' },
    'lazy-raccoon',
    ['realm:offline_access', 'realm:staff', 'menu:read', 'menu:edit'],
  ],
  [
    'Auth0',
    forAuth0,
    {
      ...auth0Token,
      iss: 'https://lunch.eu.auth0.com/',
      aud: ['https://menu.example.com/api', 'https://lunch.eu.auth0.com/userinfo'],
    },
    'org_9ybsU1dN2dKfDkBi',
    ['read:menu', 'edit:menu'],
  ],
  ['Entra ID', forEntraId, entraIdToken, 'aaaabbbb-0000-cccc-1111-dddd2222eeee', ['menu:read']],
  [
    'Cognito',
    forCognito,
    {
      ...cognitoAccessToken,
      iss: 'https://cognito-idp.us-west-2.amazonaws.com/us-west-2_example',
    },
    'lazy-raccoon',
    ['menu:read', 'menu:edit'],
  ],
  [
    'SeaCat Auth',
    forSeacatAuth,
    { ...seacatToken, iss: 'https://auth.example.com' },
    'lazy-raccoon',
    ['seacat:access', 'menu:read', 'menu:edit'],
  ],
]

for (const [server, options, token, tenant, held] of RECIPES) {
  test(`the options for ${server} let its user act for its tenant only`, async (t) => {
    const { publicKeys, headers } = await createTestAuthority()
    const app = Fastify()
    t.after(() => app.close())
    // The server's own keys cannot be used here. Keys in code win over the address.
    await app.register(tenantAuth, { ...options, publicKeys })
    const config = { tenant: 'required', resources: true } as const
    app.get('/:tenant/held', { config }, async ({ resources }) => [...resources])
    const user = { headers: await headers({ ...token }, { header: { typ: 'JWT' } }) }
    const own = await app.inject({ url: `/${tenant}/held`, ...user })
    assert.equal(own.statusCode, 200)
    assert.deepEqual(own.json<string[]>().toSorted(), held.toSorted())
    assert.equal((await app.inject({ url: '/other/held', ...user })).statusCode, 403)
    const foreign = await headers({ ...token, iss: 'https://evil.test' })
    const refused = await app.inject({ url: `/${tenant}/held`, headers: foreign })
    assert.equal(refused.statusCode, 401)
  })
}
