import assert from 'node:assert/strict'
import { after, before, describe, it, type TestContext } from 'node:test'
import Fastify from 'fastify'
import tenantAuth, { type AuthOptions, type ListedIssuer } from '../../lib/index.ts'
import { outcome } from '../helpers/app/refusals.ts'
import { API, type OidcServer, startOidcServer } from '../helpers/servers/oidc-server.ts'
import { fromMemberships } from '../helpers/tokens/from-memberships.ts'
import { machineToken, userTokens } from '../helpers/tokens/oidc-tokens.ts'

/** Both servers claim the same: everything, everywhere. */
const GREEDY = {
  '*': ['menu:read', 'authz:superuser'],
  raccoon: ['menu:read'],
  beaver: ['menu:read', 'authz:superuser'],
}

/** How an application learns of its issuers. */
const FORMS: [form: string, optionsOf: (issuers: ListedIssuer[]) => AuthOptions][] = [
  ['a list', (issuers) => ({ issuers })],
  [
    'a function',
    (issuers) => ({
      issuers: async (iss) => {
        const { issuer: _, ...rules } = issuers.find(({ issuer }) => issuer === iss) ?? {}
        return 'tenants' in rules ? rules : null
      },
      // Both servers are on loopback.
      allowPrivateIssuers: true,
    }),
  ],
]

describe('with a real authorization server for each of two tenants', () => {
  let raccoon: OidcServer
  let beaver: OidcServer
  let stranger: OidcServer
  before(async () => {
    raccoon = await startOidcServer([], GREEDY)
    beaver = await startOidcServer([], GREEDY)
    stranger = await startOidcServer([], GREEDY)
  })
  after(() => Promise.all([raccoon, beaver, stranger].map((server) => server.close())))

  /** An application that knows of each server no more than its issuer and its tenant. */
  async function start(t: TestContext, optionsOf: (issuers: ListedIssuer[]) => AuthOptions) {
    const app = Fastify()
    t.after(() => app.close())
    await app.register(tenantAuth, {
      ...optionsOf([
        { issuer: raccoon.issuer, tenants: ['raccoon'] },
        { issuer: beaver.issuer, tenants: ['beaver'] },
      ]),
      audience: API,
      mapClaims: fromMemberships,
      superuserResource: 'authz:superuser',
    })
    const config = { tenant: 'required', require: 'menu:read' } as const
    app.get('/:tenant/menu', { config }, async () => 'soup')
    const ask = async (tenant: string, token: string) =>
      outcome(
        await app.inject({
          url: `/${tenant}/menu`,
          headers: { authorization: `Bearer ${token}` },
        }),
      )
    return { app, ask }
  }

  for (const [form, optionsOf] of FORMS) {
    it(`pins each to its tenant, with the issuers in ${form}`, async (t) => {
      const { app, ask } = await start(t, optionsOf)
      for (const tokenOf of [
        machineToken,
        async (s: OidcServer) => (await userTokens(s)).accessToken,
      ]) {
        const [ofRaccoon, ofBeaver] = [await tokenOf(raccoon), await tokenOf(beaver)]
        assert.deepEqual(
          [
            await ask('raccoon', ofRaccoon),
            await ask('beaver', ofRaccoon),
            await ask('raccoon', ofBeaver),
            await ask('beaver', ofBeaver),
          ],
          ['200', '403 ERR_AUTH_TENANT_FORBIDDEN', '403 ERR_AUTH_TENANT_FORBIDDEN', '200'],
        )
      }
      assert.equal(await ask('raccoon', await machineToken(stranger)), '401 ERR_AUTH_TOKEN_INVALID')
      assert.deepEqual(
        app.authService.stats().documents.map(({ kind, name, state }) => [kind, name, state]),
        [raccoon, beaver].map(({ issuer }) => ['keys', new URL(issuer).host, 'fresh']),
      )
    })

    it(`lets one change its keys without the other, with the issuers in ${form}`, async (t) => {
      const { app, ask } = await start(t, optionsOf)
      const ofRaccoon = await machineToken(raccoon)
      const ofBeaver = await machineToken(beaver)
      const found = [await ask('raccoon', ofRaccoon), await ask('beaver', ofBeaver)]
      assert.deepEqual(found, ['200', '200'])
      await raccoon.rotate('drop the old')
      const before = beaver.keyRequests
      await app.authService.refreshKeys(raccoon.issuer)
      assert.equal(beaver.keyRequests, before)
      assert.equal(await ask('raccoon', ofRaccoon), '401 ERR_AUTH_TOKEN_INVALID')
      assert.equal(await ask('raccoon', await machineToken(raccoon)), '200')
      assert.equal(await ask('beaver', ofBeaver), '200')
    })
  }
})
