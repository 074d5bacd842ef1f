import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'node:test'
import { promisify } from 'node:util'
import Fastify from 'fastify'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import tenantAuth, { type AuthOptions } from '../../lib/index.ts'
import { codeBlocks } from '../helpers/documents/markdown.ts'
import { guide } from '../helpers/documents/pages.ts'
import { tempFolder } from '../helpers/documents/temp-folder.ts'
import {
  auth0Token,
  cognitoAccessToken,
  entraIdToken,
  keycloakToken,
  seacatToken,
} from '../helpers/tokens/vendor-tokens.ts'
import {
  forAnotherServer,
  forAuth0,
  forCognito,
  forEntraId,
  forKeycloak,
  forKeycloakGroups,
  forSeacatAuth,
} from './recipes.ts'

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
    'Keycloak without organizations',
    forKeycloakGroups,
    {
      ...keycloakToken,
      iss: 'https://sso.example.com/realms/lunch',
      groups: ['/lazy-raccoon', '/lazy-raccoon/cook', 'staff', '/lazy-raccoon/guest', '/*/cook'],
    },
    'lazy-raccoon',
    ['menu:read', 'menu:edit'],
  ],
  [
    'Keycloak without organizations, with tokens bound by DPoP',
    forKeycloakGroups,
    {
      ...keycloakToken,
      iss: 'https://sso.example.com/realms/lunch',
      typ: 'DPoP',
      groups: ['/lazy-raccoon/cook'],
    },
    'lazy-raccoon',
    ['menu:read', 'menu:edit'],
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
  [
    'another server',
    forAnotherServer,
    {
      iss: 'https://login.example.com',
      aud: 'menu-api',
      sub: 'dora',
      org_id: 'lazy-raccoon',
      roles: ['cook', 'guest'],
    },
    'lazy-raccoon',
    ['menu:read', 'menu:edit'],
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

test('the options for another server take no token for all tenants, and none without a tenant', () => {
  const { mapClaims } = forAnotherServer
  for (const claim of ['*', undefined, null, 7, ['lazy-raccoon']]) {
    const claims = { sub: 'dora', org_id: claim, roles: ['cook'] }
    assert.throws(() => mapClaims?.(claims), /another token/, JSON.stringify(claim))
  }
})

test('the options for Keycloak without organizations take no other type of token', () => {
  const { mapClaims } = forKeycloakGroups
  for (const typ of ['ID', 'Refresh', 'bearer', '', null, undefined, ['Bearer']]) {
    const claims = { ...keycloakToken, typ, groups: ['/lazy-raccoon/cook'] }
    assert.throws(() => mapClaims?.(claims), /another token/, JSON.stringify(typ))
  }
})

test('the keys for Entra ID are not those that sign for personal accounts too', () => {
  // Of `common`; in `organizations` no key names the directory of personal accounts as its issuer.
  assert.equal(
    forEntraId.publicKeysUrl,
    'https://login.microsoftonline.com/organizations/discovery/v2.0/keys',
  )
})

const folder = tempFolder()
const run = promisify(execFile)

for (const name of ['keycloak', 'auth0']) {
  test(`the command for a token of ${name} asks for one, and keeps it`, async (t) => {
    const hasCurl = await run('curl', ['--version']).catch(() => undefined)
    if (hasCurl === undefined) return t.skip('there is no curl')
    const forms: URLSearchParams[] = []
    const server = createServer(async (request, response) => {
      let body = ''
      for await (const chunk of request) body += chunk
      forms.push(new URLSearchParams(body))
      response.end(JSON.stringify({ access_token: `a.token.${name}` }))
    })
    t.after(() => server.close())
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const block = codeBlocks(guide(`identity/${name}`)).find(({ text }) => /^curl -s/.test(text))
    const command = block?.text.replace(/https:\/\/[^/]+/, `http://127.0.0.1:${port}`) ?? 'false'
    await run('sh', ['-c', command], { cwd: folder.path })
    assert.equal(readFileSync(`${folder.path}/token.txt`, 'utf8').trim(), `a.token.${name}`)
    assert.deepEqual([...(forms[0]?.keys() ?? [])].slice(0, 2), ['grant_type', 'client_id'])
  })
}
