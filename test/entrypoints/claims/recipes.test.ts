import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import Fastify from 'fastify'
import {
  auth0,
  cognito,
  entraId,
  type Grants,
  keycloak,
  type MapClaims,
  seacatAuth,
} from '../../../lib/entrypoints/claims/index.ts'
import {
  createTestAuthority,
  type TestTokenOptions,
} from '../../../lib/entrypoints/testing/index.ts'
import { isResourceId } from '../../../lib/identity/authorization/resources.ts'
import tenantAuth from '../../../lib/index.ts'
import {
  auth0Token,
  cognitoAccessToken,
  cognitoIdToken,
  entraIdToken,
  keycloakToken,
  seacatToken,
} from '../../helpers/tokens/vendor-tokens.ts'

type Claims = Record<string, unknown>

const authority = await createTestAuthority()
const { publicKeys } = authority

/** The user info that the real plugin makes of a signed token with these claims. */
async function ask(mapClaims: MapClaims, claims: Claims, url = '/rights', header: Claims = {}) {
  const app = Fastify()
  try {
    await app.register(tenantAuth, { publicKeys, mapClaims })
    const config = { tenant: true, userInfo: true, resources: true } as const
    app.get('/:tenant/rights', { config }, async ({ tenant, userInfo, resources }) => ({
      tenant,
      name: userInfo.preferred_username,
      held: [...resources],
      all: userInfo.resources,
    }))
    app.get('/rights', { config: { userInfo: true, resources: true } }, async (request) => ({
      name: request.userInfo.preferred_username,
      held: [...request.resources],
      all: request.userInfo.resources,
    }))
    const options: TestTokenOptions = { header: { typ: 'JWT', ...header } }
    const response = await app.inject({ url, headers: await authority.headers(claims, options) })
    return { status: response.statusCode, body: response.json<Claims>() }
  } finally {
    await app.close()
  }
}

async function grants(mapClaims: MapClaims, claims: Claims): Promise<unknown> {
  const { status, body } = await ask(mapClaims, claims)
  assert.equal(status, 200, JSON.stringify(body))
  return body['all']
}

async function refuses(mapClaims: MapClaims, claims: Claims): Promise<void> {
  const { status, body } = await ask(mapClaims, claims)
  assert.equal(status, 401, JSON.stringify({ claims, body }))
  assert.equal(body['code'], 'ERR_AUTH_TOKEN_INVALID')
}

/** Values that are neither a list of strings nor an object of such lists. */
const MALFORMED = [
  null,
  true,
  1,
  'menu:read',
  { 0: 'menu:read' },
  ['menu:read', 1],
  [['menu:read']],
]

describe('keycloak', () => {
  const cook = ['menu:read', 'menu:edit']
  const ofRealm = keycloak({ rolesOf: 'realm', client: 'menu-api', clientRoles: { cook } })
  const ofOrganization = keycloak({ rolesOf: 'organization', client: 'menu-api' })

  it('grants the roles of the realm and of one client in every organization of the token', async () => {
    assert.deepEqual(await grants(ofRealm, keycloakToken), {
      '*': ['realm:offline_access', 'realm:staff', 'menu:read', 'menu:edit'],
      'lazy-raccoon': [],
    })
  })

  it('lets the user act for its organizations and for no other tenant', async () => {
    const { status, body } = await ask(ofRealm, keycloakToken, '/lazy-raccoon/rights')
    assert.equal(status, 200)
    assert.deepEqual(body['held'], [
      'realm:offline_access',
      'realm:staff',
      'menu:read',
      'menu:edit',
    ])
    assert.equal(body['name'], 'little-capybara')
    assert.equal((await ask(ofRealm, keycloakToken, '/other/rights')).status, 403)
  })

  it('grants nothing for the roles of clients if no client is named', async () => {
    const all = await grants(keycloak({ rolesOf: 'realm' }), keycloakToken)
    assert.deepEqual(all, { '*': ['realm:offline_access', 'realm:staff'], 'lazy-raccoon': [] })
  })

  it('keeps a role of the realm apart from a role of the client with the same name', async () => {
    const all = await grants(keycloak({ rolesOf: 'realm', client: 'menu-api' }), {
      ...keycloakToken,
      realm_access: { roles: ['head cook'] },
      resource_access: { 'menu-api': { roles: ['staff', 'head cook'] } },
    })
    assert.deepEqual(all, { '*': ['client:staff'], 'lazy-raccoon': [] })
  })

  it('grants the roles of organization groups in their organization only', async () => {
    const token = {
      ...keycloakToken,
      organization: {
        'lazy-raccoon': {
          id: '42c3e46f-2477-44d7-a85b-d3b43f6b31fa',
          groups: ['/Kitchen'],
          realm_access: { roles: ['viewer'] },
          resource_access: { 'menu-api': { roles: ['cook'] }, account: { roles: ['manage'] } },
        },
        'busy-beaver': {},
      },
    }
    assert.deepEqual(await grants(ofOrganization, token), {
      'lazy-raccoon': ['realm:viewer', 'client:cook'],
      'busy-beaver': [],
    })
    const all = Object(await grants(ofRealm, token))
    assert.deepEqual(
      [all['lazy-raccoon'], all['busy-beaver']],
      [[], []],
      'those of the realm count',
    )
  })

  const shapes: [unknown, object][] = [
    [undefined, {}],
    ['a', { a: [] }],
    [['a', 'b'], { a: [], b: [] }],
    [
      { a: { id: '1', region: ['eu'] }, b: {} },
      { a: [], b: [] },
    ],
  ]
  for (const [organization, expected] of shapes) {
    it(`reads the organizations of ${JSON.stringify(organization)}`, async () => {
      assert.deepEqual(await grants(ofOrganization, { ...keycloakToken, organization }), expected)
    })
  }

  it('takes the access tokens that are bound by DPoP', async () => {
    const token = { ...keycloakToken, typ: 'DPoP' }
    assert.deepEqual(await grants(ofRealm, token), await grants(ofRealm, keycloakToken))
  })

  const malformed: Claims[] = [
    ...['ID', 'Refresh', 'bearer', 'dpop', undefined].map((typ) => ({ typ })),
    ...[null, 1, '', '*', ['*'], [''], [1], [['a']]].map((organization) => ({ organization })),
    ...[{ '*': {} }, { '': {} }, { a: null }, { a: [] }, { a: 'b' }].map((organization) => ({
      organization,
    })),
    ...[null, [], 'staff', { roles: 'staff' }, { roles: [1] }, { roles: { 0: 'staff' } }].flatMap(
      (access) => [{ realm_access: access }, { resource_access: { 'menu-api': access } }],
    ),
    { resource_access: ['menu-api'] },
  ]
  for (const claims of malformed) {
    it(`refuses a token with ${JSON.stringify(claims)}`, async () => {
      await refuses(ofRealm, { ...keycloakToken, ...claims })
    })
  }

  it('has no default for whose roles count, even without types', () => {
    const untyped: Parameters<typeof keycloak>[0] = JSON.parse(`{"client":"menu-api"}`)
    assert.throws(
      () => keycloak(untyped),
      /rolesOf: expected 'realm' or 'organization', found none \(keycloak\(\)\)/,
    )
  })

  it('grants what its role tables held when it was made', async () => {
    const realmRoles = { staff: ['menu:read'] }
    const recipe = keycloak({ rolesOf: 'realm', realmRoles })
    realmRoles.staff.push('menu:edit')
    assert.deepEqual(await grants(recipe, keycloakToken), {
      '*': ['menu:read'],
      'lazy-raccoon': [],
    })
  })

  it('does not take inherited members for a role table or a client', async () => {
    const recipe = keycloak({ rolesOf: 'realm', client: 'constructor', realmRoles: {} })
    const all = await grants(recipe, {
      ...keycloakToken,
      realm_access: { roles: ['constructor', '__proto__', 'toString'] },
    })
    assert.deepEqual(all, { '*': [], 'lazy-raccoon': [] })
  })
})

describe('auth0', () => {
  it('grants the permissions of an organization in it, and not elsewhere', async () => {
    const all = await grants(auth0(), auth0Token)
    assert.deepEqual(all, { org_9ybsU1dN2dKfDkBi: ['read:menu', 'edit:menu'] })
    assert.equal((await ask(auth0(), auth0Token, '/org_9ybsU1dN2dKfDkBi/rights')).status, 200)
    assert.equal((await ask(auth0(), auth0Token, '/org_other/rights')).status, 403)
    assert.deepEqual((await ask(auth0(), auth0Token)).body['held'], [])
  })

  it('can use the name of the organization', async () => {
    const named = { ...auth0Token, org_name: 'lazy-raccoon' }
    assert.deepEqual(await grants(auth0({ tenant: 'org_name' }), named), {
      'lazy-raccoon': ['read:menu', 'edit:menu'],
    })
  })

  it("grants a user's own permissions everywhere, without a tenant", async () => {
    const { org_id: _, ...personal } = auth0Token
    assert.deepEqual(await grants(auth0(), personal), { '*': ['read:menu', 'edit:menu'] })
    assert.equal((await ask(auth0(), personal, '/org_9ybsU1dN2dKfDkBi/rights')).status, 403)
  })

  it('never grants the rights in an organization without a fitting name everywhere', async () => {
    await refuses(auth0({ tenant: 'org_name' }), auth0Token)
    await refuses(auth0(), { ...auth0Token, org_id: undefined, org_name: 'lazy-raccoon' })
  })

  it('passes over a permission that is no resource id', async () => {
    const all = await grants(auth0(), {
      ...auth0Token,
      permissions: ['admin', 'read menu', ':menu', 'read:', 'read:"menu"', 'read:menu'],
    })
    assert.deepEqual(all, { org_9ybsU1dN2dKfDkBi: ['read:menu'] })
  })

  it('grants nothing to a token without permissions, even with a scope', async () => {
    const { permissions: _, ...scoped } = auth0Token
    assert.deepEqual(await grants(auth0(), { ...scoped, scope: 'read:menu' }), {
      org_9ybsU1dN2dKfDkBi: [],
    })
  })

  for (const permissions of MALFORMED) {
    it(`refuses permissions ${JSON.stringify(permissions)}`, () =>
      refuses(auth0(), { ...auth0Token, permissions }))
  }
  for (const org_id of [null, '', '*', 1, ['org_1'], { org_1: {} }]) {
    it(`refuses an org_id ${JSON.stringify(org_id)}`, () =>
      refuses(auth0(), { ...auth0Token, org_id }))
  }
})

describe('entraId', () => {
  const tid = 'aaaabbbb-0000-cccc-1111-dddd2222eeee'

  it('grants app roles in the directory', async () => {
    assert.deepEqual(await grants(entraId(), entraIdToken), {
      [tid]: ['role:Menu.Read', 'role:menu:edit'],
    })
    assert.equal((await ask(entraId(), entraIdToken, `/${tid}/rights`)).status, 200)
    const elsewhere = '/bbbbcccc-1111-dddd-2222-eeee3333ffff/rights'
    assert.equal((await ask(entraId(), entraIdToken, elsewhere)).status, 403)
  })

  it('takes a token of version 1.0', async () => {
    const { azp: appid, azpacr: appidacr, ...others } = entraIdToken
    const all = await grants(entraId({ roles: { 'Menu.Read': ['menu:read'] } }), {
      ...others,
      appid,
      appidacr,
      ver: '1.0',
      iss: `https://sts.windows.net/${tid}/`,
    })
    assert.deepEqual(all, { [tid]: ['menu:read'] })
  })

  it('can take roles that are resource ids as they stand', async () => {
    assert.deepEqual(await grants(entraId({ roles: 'verbatim' }), entraIdToken), {
      [tid]: ['menu:edit'],
    })
  })

  it('lets a user without roles act for the directory', async () => {
    const { roles: _, ...plain } = entraIdToken
    assert.deepEqual(await grants(entraId(), plain), { [tid]: [] })
  })

  it('refuses a directory that is not that of the issuer', async () => {
    const iss = 'https://login.microsoftonline.com/bbbbcccc-1111-dddd-2222-eeee3333ffff/v2.0'
    await refuses(entraId(), { ...entraIdToken, iss })
    await refuses(entraId(), { ...entraIdToken, iss: `https://evil.test/?${tid}` })
  })

  it('refuses an ID token, which names no client that it was issued to', async () => {
    const { azp: _, azpacr: __, scp: ___, ...idToken } = entraIdToken
    await refuses(entraId(), { ...idToken, nonce: '12345' })
  })

  for (const client of [null, '', 1, ['11112222-bbbb-3333-cccc-4444dddd5555']]) {
    it(`refuses a client ${JSON.stringify(client)}`, async () => {
      const { azp: _, ...others } = entraIdToken
      await refuses(entraId(), { ...others, azp: client })
      await refuses(entraId(), { ...others, appid: client })
    })
  }

  for (const wrong of [undefined, null, '', '*', 1, [tid], 'v2.0', 'common', `${tid}0`]) {
    it(`refuses a tid ${JSON.stringify(wrong)}`, () =>
      refuses(entraId(), { ...entraIdToken, tid: wrong }))
  }
  for (const roles of MALFORMED) {
    it(`refuses roles ${JSON.stringify(roles)}`, () =>
      refuses(entraId(), { ...entraIdToken, roles }))
  }
})

describe('cognito', () => {
  const clientId = '57cbishk4j24pabc1234567890'
  const byGroups = cognito({ clientId, groups: { cook: ['menu:edit'], auditors: ['log:read'] } })
  const byClaim = cognito({ clientId, tenantClaim: 'custom:tenant', tokenUse: 'id' })

  it('grants a group of a tenant in it, and a group of the pool everywhere', async () => {
    assert.deepEqual(await grants(byGroups, cognitoAccessToken), {
      'lazy-raccoon': ['menu:edit'],
      'busy-beaver': [],
      '*': ['log:read'],
    })
    const { status, body } = await ask(byGroups, cognitoAccessToken, '/lazy-raccoon/rights')
    assert.equal(status, 200)
    assert.deepEqual(body['held'], ['log:read', 'menu:edit'])
    assert.equal(body['name'], 'little-capybara')
    assert.equal((await ask(byGroups, cognitoAccessToken, '/auditors/rights')).status, 403)
  })

  it('grants all groups in the tenant that a claim names', async () => {
    assert.deepEqual(await grants(byClaim, cognitoIdToken), {
      'lazy-raccoon': ['group:cook', 'group:auditors'],
    })
    const { 'custom:tenant': _, ...homeless } = cognitoIdToken
    assert.deepEqual(await grants(byClaim, homeless), {})
  })

  it('maps eight times the groups in less than thirty times the time', () => {
    const timeOf = (count: number) => {
      const groups = Array.from({ length: count }, (_, i) => `lazy-raccoon/cook-${i}`)
      const claims = { ...cognitoAccessToken, 'cognito:groups': groups }
      const recipe = cognito({ clientId })
      const times = Array.from({ length: 9 }, () => {
        const begin = performance.now()
        recipe(claims)
        return performance.now() - begin
      })
      return Math.min(...times)
    }
    timeOf(2000)
    const [few, many] = [timeOf(250), timeOf(2000)]
    assert.ok(many < 30 * few, `${many / few} times the time`)
  })

  it('keeps the preferred_username of a token', async () => {
    const named = { ...cognitoIdToken, preferred_username: 'capy' }
    assert.equal((await ask(byClaim, named)).body['name'], 'capy')
    assert.equal((await ask(byClaim, cognitoIdToken)).body['name'], 'little-capybara')
  })

  it('takes no rights from a group whose name is not a tenant and a group', async () => {
    const odd = ['*/cook', '/cook', 'lazy-raccoon/', '/', '', '*']
    const recipe = cognito({ clientId, groups: { cook: ['menu:edit'], '': ['menu:all'] } })
    const { status, body } = await ask(recipe, { ...cognitoAccessToken, 'cognito:groups': odd })
    assert.equal(status, 200)
    assert.deepEqual(body['all'], { '*': ['menu:all'] })
  })

  it('grants nothing to a machine, whose token has no groups', async () => {
    const { 'cognito:groups': _, username: __, ...machine } = cognitoAccessToken
    assert.deepEqual(await grants(byGroups, machine), {})
  })

  it('refuses a token for another client or another use', async () => {
    await refuses(byGroups, { ...cognitoAccessToken, client_id: 'other' })
    await refuses(byGroups, { ...cognitoAccessToken, client_id: undefined })
    await refuses(byGroups, { ...cognitoAccessToken, client_id: [clientId] })
    await refuses(byGroups, cognitoIdToken)
    await refuses(byClaim, cognitoAccessToken)
    await refuses(byClaim, { ...cognitoIdToken, aud: 'other' })
    for (const token_use of ['id', 'Access', undefined]) {
      await refuses(byGroups, { ...cognitoAccessToken, token_use })
    }
    await refuses(byClaim, { ...cognitoIdToken, token_use: 'access' })
  })

  it('takes a token for any of several clients', async () => {
    const either = cognito({ clientId: ['other', clientId] })
    assert.equal((await ask(either, cognitoAccessToken)).status, 200)
  })

  for (const groups of MALFORMED) {
    it(`refuses groups ${JSON.stringify(groups)}`, () =>
      refuses(byGroups, { ...cognitoAccessToken, 'cognito:groups': groups }))
  }
  for (const tenant of [null, '', '*', 1, ['a']]) {
    it(`refuses a tenant ${JSON.stringify(tenant)} in a claim`, () =>
      refuses(byClaim, { ...cognitoIdToken, 'custom:tenant': tenant }))
  }
  it('refuses a username that is not a string', () =>
    refuses(byGroups, { ...cognitoAccessToken, username: 7 }))
})

describe('seacatAuth', () => {
  it('grants what the claim resources says', async () => {
    assert.deepEqual(await grants(seacatAuth, seacatToken), {
      '*': ['seacat:access'],
      'lazy-raccoon': ['menu:read', 'menu:edit'],
    })
    const { body } = await ask(seacatAuth, seacatToken, '/lazy-raccoon/rights')
    assert.deepEqual(body['held'], ['seacat:access', 'menu:read', 'menu:edit'])
  })

  it('does not take a membership in the claim tenants for a right', async () => {
    assert.equal((await ask(seacatAuth, seacatToken, '/busy-beaver/rights')).status, 403)
  })

  it('passes over what is no resource id', async () => {
    const resources = { 'lazy-raccoon': ['admin', '', 'menu:', 'menu:read'] }
    assert.deepEqual(await grants(seacatAuth, { ...seacatToken, resources }), {
      'lazy-raccoon': ['menu:read'],
    })
  })

  it('grants nothing without the claim', async () => {
    const { resources: _, ...bare } = seacatToken
    assert.deepEqual(await grants(seacatAuth, bare), {})
  })

  for (const resources of [null, 1, 'menu:read', [], ['menu:read']]) {
    it(`refuses resources ${JSON.stringify(resources)}`, () =>
      refuses(seacatAuth, { ...seacatToken, resources }))
  }
  for (const list of MALFORMED) {
    it(`refuses a tenant with ${JSON.stringify(list)}`, () =>
      refuses(seacatAuth, { ...seacatToken, resources: { 'lazy-raccoon': list } }))
  }
})

describe('every recipe', () => {
  const recipes: [string, MapClaims, Claims][] = [
    ['keycloak', keycloak({ rolesOf: 'realm' }), keycloakToken],
    ['auth0', auth0(), auth0Token],
    ['entraId', entraId(), entraIdToken],
    ['cognito', cognito({ clientId: '57cbishk4j24pabc1234567890' }), cognitoAccessToken],
    ['seacatAuth', seacatAuth, seacatToken],
  ]
  for (const [name, recipe, token] of recipes) {
    it(`${name} keeps the other claims, and does not change its argument`, () => {
      const claims: Claims = Object.freeze({ ...token, sub: 'user-1', locale: 'cs' })
      const { resources: _, preferred_username: __, ...others } = recipe(claims)
      const { resources: ___, preferred_username: ____, ...expected } = claims
      assert.deepEqual(others, expected)
    })

    it(`${name} gives only resource ids as the guard defines them`, async () => {
      const all = recipe({ ...token, sub: 'user-1' }).resources ?? {}
      const ids = Object.values(all).flat()
      assert.notEqual(ids.length, 0)
      const found = ids.filter((id) => !isResourceId(id))
      assert.deepEqual(found, [])
    })

    for (const sub of [undefined, null, '', 7]) {
      it(`${name} refuses a sub ${JSON.stringify(sub)}`, () => refuses(recipe, { ...token, sub }))
    }
    it(`${name} refuses a preferred_username that is not a string`, () =>
      refuses(recipe, { ...token, preferred_username: {} }))

    if (name === 'seacatAuth') continue
    it(`${name} does not take over a claim of the name resources`, async () => {
      const forged = { '*': ['authz:superuser'], victim: ['menu:read'] }
      const { status, body } = await ask(recipe, { ...token, resources: forged })
      assert.equal(status, 200)
      assert.equal(JSON.stringify(body).includes('authz:superuser'), false)
      const found = (await ask(recipe, { ...token, resources: forged }, '/victim/rights')).status
      assert.equal(found, 403)
    })
  }

  const namedProto: [string, MapClaims, string][] = [
    [
      'keycloak',
      keycloak({ rolesOf: 'realm' }),
      '{"typ":"Bearer","organization":{"__proto__":{}}}',
    ],
    ['auth0', auth0(), '{"org_id":"__proto__"}'],
    [
      'cognito',
      cognito({ clientId: 'c' }),
      '{"token_use":"access","client_id":"c","cognito:groups":["__proto__/cook"]}',
    ],
    ['seacatAuth', seacatAuth, '{"resources":{"__proto__":[]}}'],
  ]
  for (const [name, recipe, json] of namedProto) {
    it(`${name} takes a tenant called __proto__ for a tenant like any other`, async () => {
      const claims: Claims = JSON.parse(json)
      assert.equal((await ask(recipe, claims, '/__proto__/rights')).status, 200)
      assert.equal((await ask(recipe, claims, '/constructor/rights')).status, 403)
    })
  }

  it('is not looked for on the prototype of a claim', async () => {
    const inherited: Claims = Object.create({ sub: 'user-1', permissions: ['read:menu'] })
    assert.throws(() => auth0()(inherited), TypeError)
    assert.deepEqual(auth0()(Object.assign(inherited, { sub: 'user-1' })).resources, { '*': [] })
  })

  it('refuses at boot a table that grants something else than resource ids', () => {
    const tables: Grants[] = [{ cook: ['menu'] }, { cook: [''] }, { cook: ['menu read:all'] }]
    for (const table of tables) {
      assert.throws(
        () => keycloak({ rolesOf: 'realm', realmRoles: table }),
        /realmRoles: .*: look at cook$/,
      )
      assert.throws(
        () => keycloak({ rolesOf: 'realm', clientRoles: table }),
        /clientRoles: .*: look at cook$/,
      )
      assert.throws(() => entraId({ roles: table }), /roles: .*: look at cook$/)
      assert.throws(() => cognito({ clientId: 'c', groups: table }), /groups: .*: look at cook$/)
    }
  })
})

/** Options that a recipe would leave out, in whole or in part. */
const LEFT_OUT: readonly [what: string, make: (options: object) => unknown, member: string][] = [
  ['keycloak', (options) => Reflect.apply(keycloak, null, [options]), 'client'],
  ['auth0', (options) => Reflect.apply(auth0, null, [options]), 'tenant'],
  ['entraId', (options) => Reflect.apply(entraId, null, [options]), 'roles'],
  ['cognito', (options) => Reflect.apply(cognito, null, [options]), 'clientId'],
]

for (const [name, make, member] of LEFT_OUT) {
  it(`${name} refuses options that it would leave out`, () => {
    const good = { rolesOf: 'realm', clientId: 'c' }
    const code = { code: 'ERR_AUTH_CONFIG_INVALID' }
    assert.throws(() => make(Object.create(good)), code)
    assert.throws(() => make(new Map(Object.entries(good))), code)
    assert.throws(() => make({ [`${member}s`]: 'x' }), code)
  })
}

it('a table of grants is a plain object', () => {
  const table = Reflect.apply(entraId, null, [{ roles: {} }])
  assert.equal(typeof table, 'function')
  const roles = new Map([['cook', ['menu:read']]])
  assert.throws(() => Reflect.apply(entraId, null, [{ roles }]), /expected .*, found an object/)
})
