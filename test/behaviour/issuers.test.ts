import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import tenantAuth, { type AuthOptions } from '../../lib/index.ts'
import { bareApp } from '../helpers/app/guarded-app.ts'
import { assertRefused } from '../helpers/app/refusals.ts'
import { forge, forgeKey } from '../helpers/tokens/forge.ts'

const AUDIENCE = 'lunch'
const own = await createTestAuthority({ issuer: 'https://login.test', audience: AUDIENCE })
const acme = await createTestAuthority({ issuer: 'https://acme.test', audience: AUDIENCE })

const ISSUERS = [
  own.issuerRules({ tenants: '*' }),
  acme.issuerRules({ tenants: ['acme', 'acme-test'] }),
]

async function start(t: TestContext, options: AuthOptions = { issuers: ISSUERS }) {
  const app = bareApp(t)
  await app.register(tenantAuth, options)
  app.get('/t/:tenant', { config: { tenant: 'required', resources: true } }, async (request) => [
    ...request.resources,
  ])
  app.get('/needs/:tenant', { config: { require: 'menu:read' } }, async () => 'held')
  app.get('/global', { config: { require: 'menu:read' } }, async () => 'held')
  app.get('/me', { config: { authorization: true } }, async ({ authorization }) => authorization)
  return app
}

const get = async (app: FastifyInstance, url: string, headers: { authorization: string }) =>
  app.inject({ url, headers })

test('each issuer speaks for its tenants, and a user is named by issuer and sub', async (t) => {
  const app = await start(t)
  const resources = { acme: ['menu:read'], other: ['menu:read'], '*': ['note:read'] }
  const [ofOwn, ofAcme] = [await own.headers({ resources }), await acme.headers({ resources })]
  assert.deepEqual((await get(app, '/t/acme', ofOwn)).json(), ['note:read', 'menu:read'])
  assert.deepEqual((await get(app, '/t/acme', ofAcme)).json(), ['menu:read', 'note:read'])
  assert.equal((await get(app, '/t/other', ofOwn)).statusCode, 200)
  assertRefused(await get(app, '/t/other', ofAcme), 'ERR_AUTH_TENANT_FORBIDDEN')
  const [one, two] = [(await get(app, '/me', ofOwn)).json(), (await get(app, '/me', ofAcme)).json()]
  assert.deepEqual([one.issuer, two.issuer], [own.issuer, acme.issuer])
  assert.deepEqual([one.tenants, two.tenants], [['acme', 'other'], ['acme']])
  assert.deepEqual(two.userInfo.resources, { acme: ['menu:read', 'note:read'] })
})

const key = { own: forgeKey('ES256', 'one'), acme: forgeKey('ES256', 'one') }
const iss = { own: 'https://login.test', acme: 'https://acme.test' }

test('only the straight pair of key and issuer verifies, whatever the kid says', async (t) => {
  const app = await start(t, {
    issuers: [
      { issuer: iss.own, audience: AUDIENCE, tenants: '*', publicKeys: keysOf('own') },
      { issuer: iss.acme, audience: AUDIENCE, tenants: ['acme'], publicKeys: keysOf('acme') },
    ],
  })
  const exp = Math.floor(Date.now() / 1000) + 60
  for (const signer of ['own', 'acme'] as const) {
    for (const named of ['own', 'acme'] as const) {
      for (const kid of ['one', undefined]) {
        const payload = { iss: iss[named], aud: AUDIENCE, sub: 'u', exp }
        const token = forge(key[signer], { header: { kid }, payload })
        const response = await get(app, '/me', { authorization: `Bearer ${token}` })
        if (signer === named) assert.equal(response.json().issuer, iss[named])
        else assertRefused(response, 'ERR_AUTH_TOKEN_INVALID')
      }
    }
  }
})

function keysOf(name: 'own' | 'acme') {
  return { keys: [key[name].publicJwk] }
}

const STRANGERS: [what: string, claims: object][] = [
  ['an unknown issuer', { iss: 'https://stranger.test' }],
  ['no issuer', { iss: undefined }],
  ['an issuer with a slash more', { iss: `${iss.own}/` }],
  ['an issuer in capitals', { iss: iss.own.toUpperCase() }],
  ['a list of issuers', { iss: [iss.own] }],
  ['an issuer that objects have', { iss: '__proto__' }],
  ['an issuer of another audience', { aud: 'other' }],
]

for (const [what, claims] of STRANGERS) {
  test(`a token of ${what} gets the same words as every refused token`, async (t) => {
    const app = await start(t)
    const token = await own.token({ ...claims })
    assertRefused(
      await get(app, '/me', { authorization: `Bearer ${token}` }),
      'ERR_AUTH_TOKEN_INVALID',
    )
  })
}

test('a token that is dear to read finds its issuer too', async (t) => {
  const app = await start(t)
  const resources = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`t${i}`, ['x:y']]))
  const act = { iss: own.issuer, sub: 'helper' }
  const headers = await acme.headers({ act, resources: { ...resources, acme: [] } })
  assert.equal((await get(app, '/t/acme', headers)).statusCode, 200)
  assertRefused(await get(app, '/t/t1', headers), 'ERR_AUTH_TENANT_FORBIDDEN')
})

test('each issuer has its own audience, algorithms, types and mapping', async (t) => {
  const mapClaims = () => ({ sub: 'mapped', resources: { acme: [], other: [] } })
  const rsa = await createTestAuthority({ issuer: 'https://rsa.test', algorithm: 'RS256' })
  const app = await start(t, {
    audience: AUDIENCE,
    algorithms: ['ES256'],
    issuers: [
      { issuer: own.issuer, publicKeys: own.publicKeys, tenants: '*' },
      { ...acme.issuerRules({ tenants: ['acme'] }), tokenTypes: ['JWT'], mapClaims },
      { ...rsa.issuerRules({ tenants: ['other'] }), algorithms: ['RS256'], audience: ['api'] },
    ],
  })
  assert.equal((await get(app, '/me', await own.headers())).statusCode, 200)
  assert.equal((await get(app, '/me', await rsa.headers())).statusCode, 200)
  assertRefused(await get(app, '/me', await acme.headers()), 'ERR_AUTH_TOKEN_INVALID')
  const mapped = await get(app, '/me', await acme.headers({}, { header: { typ: 'JWT' } }))
  assert.deepEqual([mapped.json().userInfo.sub, mapped.json().tenants], ['mapped', ['acme']])
})

test('without several issuers authorization.issuer is the verified iss, or null', async (t) => {
  const { publicKeys } = own
  const app = await start(t, { publicKeys })
  assert.equal((await get(app, '/me', await own.headers())).json().issuer, own.issuer)
  const nameless = await own.headers({ iss: undefined })
  assert.equal((await get(app, '/me', nameless)).json().issuer, null)
  const dev = await start(t, { devMode: true, issuers: ISSUERS })
  assert.equal((await dev.inject('/me')).json().issuer, null)
})
