import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import tenantAuth, {
  type AuthOptions,
  authorizationOf,
  currentAuthorization,
} from '../../lib/index.ts'
import { as, authority, bareApp, guardedApp, untyped } from '../helpers/app/guarded-app.ts'
import { outcome } from '../helpers/app/refusals.ts'
import { tempFolder } from '../helpers/documents/temp-folder.ts'
import { holdTime } from '../helpers/processes/age-by-date.ts'
import { json, tenantServer } from '../helpers/servers/tenant-server.ts'

const SUSPENDED = '403 ERR_AUTH_TENANT_SUSPENDED'
const UNKNOWN = '404 ERR_AUTH_TENANT_UNKNOWN'
const UNAVAILABLE = '503 ERR_AUTH_TENANTS_UNAVAILABLE'

const folder = tempFolder()
const RIGHTS = { acme: [], old: [], 'old & big': [], none: [] }

async function start(t: TestContext, options: AuthOptions) {
  const app = await guardedApp(t, { superuserResource: 'root:all', ...options })
  app.get('/:tenant', async () => 'x')
  app.get('/serving/:tenant', { config: { suspended: true } }, async (request) => ({
    suspended: authorizationOf(request)?.suspended,
  }))
  await app.ready()
  const headers = await as(RIGHTS)
  const ask = async (tenant: string) =>
    outcome(await app.inject({ url: `/${encodeURIComponent(tenant)}`, headers }))
  return { app, headers, ask }
}

function ini(text: string): AuthOptions {
  const { publicKeys, issuer, audience } = authority
  return { configFile: folder.write(text), publicKeys, issuer, audience }
}

const SOURCES: readonly [what: string, options: () => Promise<AuthOptions> | AuthOptions][] = [
  [
    'a function',
    () => ({ tenants: (name) => (name.startsWith('old') ? 'suspended' : name === 'acme') }),
  ],
  [
    'an asynchronous function',
    () => ({ tenants: async (name) => (name.startsWith('old') ? 'suspended' : name === 'acme') }),
  ],
  [
    'a URL',
    async () => {
      const suspended = ['old', 'old & big'].map((name) => ({ name, state: 'suspended' }))
      return { tenants: (await tenantServer(JSON.stringify(['acme', ...suspended]))).url }
    },
  ],
  ['two lists', () => ({ tenants: { ids: ['acme'], suspended: ['old', 'old & big'] } })],
  [
    'two lists that share names',
    () => ({ tenants: { ids: ['acme', 'old'], suspended: ['old', 'old', 'old & big'] } }),
  ],
  ['an INI file', () => ini('[tenants]\nids = acme\nsuspended = old, "old & big"\n')],
  [
    'an INI file in another order',
    () => ini('[tenants]\nsuspended = old "old & big" ; two\nids = acme old\n'),
  ],
]

for (const [what, options] of SOURCES) {
  test(`${what} says which tenants exist, and which are suspended`, async (t) => {
    const { app, headers, ask } = await start(t, await options())
    for (const [tenant, expected] of [
      ['acme', '200'],
      ['old', SUSPENDED],
      ['old & big', SUSPENDED],
      ['none', UNKNOWN],
      ['acme', '200'],
      ['old', SUSPENDED],
    ] as const) {
      assert.equal(await ask(tenant), expected, tenant)
    }
    for (const tenant of ['acme', 'old']) {
      const response = await app.inject({ url: `/serving/${tenant}`, headers })
      assert.deepEqual(response.json(), { suspended: tenant === 'old' })
    }
  })
}

test('no tenant need be suspended in the two lists, and each may be', async (t) => {
  const { ask } = await start(t, { tenants: { ids: ['acme'], suspended: [] } })
  assert.deepEqual([await ask('acme'), await ask('old')], ['200', UNKNOWN])
  const { ask: askOther } = await start(t, { tenants: { ids: [], suspended: ['old'] } })
  assert.deepEqual([await askOther('acme'), await askOther('old')], [UNKNOWN, SUSPENDED])
})

test('the suspended_tenants of an INI file is the option', async (t) => {
  const lists = '[tenants]\nids = acme\nsuspended = old\n'
  const { ask } = await start(t, ini(`[auth]\nsuspended_tenants = read\n${lists}`))
  assert.equal(await ask('old'), '200')
})

test('the application may change its lists: the copies count', async (t) => {
  const [ids, suspended] = [['acme', 'old'], ['old']]
  const { ask } = await start(t, { tenants: { ids, suspended } })
  suspended.splice(0)
  ids.push('none')
  assert.deepEqual([await ask('old'), await ask('none')], [SUSPENDED, UNKNOWN])
})

const ANSWERS: readonly unknown[] = [
  'active',
  'Suspended',
  'SUSPENDED',
  ' suspended',
  'suspended\n',
  '',
  null,
  undefined,
  0,
  1,
  {},
  { state: 'suspended' },
  ['suspended'],
  new String('suspended'),
  Object(true),
]

for (const answer of ANSWERS) {
  const shown = `${typeof answer} ${JSON.stringify(answer)}`
  test(`a function that answers ${shown} is unavailable, for superusers too`, async (t) => {
    for (const tenants of [() => answer, async () => answer]) {
      const { app, headers, ask } = await start(t, { ...untyped({ tenants }) })
      assert.equal(await ask('acme'), UNAVAILABLE)
      const superuser = await as({ '*': ['root:all'] })
      for (const each of [headers, superuser]) {
        const response = await app.inject({ url: '/serving/acme', headers: each })
        assert.equal(outcome(response), UNAVAILABLE)
      }
    }
  })
}

test('a wrong answer replaces what was kept, and a state does not outlive it', async (t) => {
  holdTime(t, { apis: ['Date'], now: Date.now() })
  const answers: unknown[] = ['suspended', 'active', true]
  const { ask } = await start(t, untyped({ tenants: () => answers.shift() }))
  assert.equal(await ask('old'), SUSPENDED)
  t.mock.timers.tick(61_000)
  assert.equal(await ask('old'), UNAVAILABLE)
  assert.equal(await ask('old'), '200')
})

for (const [state, verdict] of [
  [true, '200'],
  ['suspended', SUSPENDED],
] as const) {
  test(`${state} is kept for tenantsMaxAge`, async (t) => {
    holdTime(t, { apis: ['Date'], now: Date.now() })
    let answer: boolean | 'suspended' = state
    const tenants = t.mock.fn(() => answer)
    const { ask } = await start(t, { tenants, tenantsMaxAge: 100 })
    assert.equal(await ask('old'), verdict)
    answer = false
    t.mock.timers.tick(99_000)
    assert.equal(await ask('old'), verdict)
    assert.equal(tenants.mock.callCount(), 1)
    t.mock.timers.tick(2000)
    assert.equal(await ask('old'), UNKNOWN)
    assert.equal(await ask('old'), UNKNOWN)
    assert.equal(tenants.mock.callCount(), 3, 'no false is kept')
    answer = state
    assert.equal(await ask('old'), verdict)
  })
}

test('forget({ tenant }) makes a change count at once, of that tenant only', async (t) => {
  const states: Record<string, boolean | 'suspended'> = { acme: true, old: true }
  const { app, ask } = await start(t, { tenants: (name) => states[name] ?? false })
  const both = async () => [await ask('acme'), await ask('old')]
  assert.deepEqual(await both(), ['200', '200'])
  Object.assign(states, { acme: 'suspended', old: 'suspended' })
  assert.deepEqual(await both(), ['200', '200'])
  app.authService.forget({ tenant: 'old' })
  assert.deepEqual(await both(), ['200', SUSPENDED])
  app.authService.forget({ tenant: 'acme' })
  Object.assign(states, { acme: true, old: true })
  assert.deepEqual(await both(), ['200', SUSPENDED])
  app.authService.forget({ tenant: 'old' })
  assert.deepEqual(await both(), ['200', '200'])
})

test('forget({ tenant }) has the list of a URL fetched anew', async (t) => {
  const server = await tenantServer('["old"]')
  const { app, ask } = await start(t, { tenants: server.url })
  assert.equal(await ask('old'), '200')
  server.answer = json('[{"name":"old","state":"suspended"}]')
  assert.equal(await ask('old'), '200')
  app.authService.forget({ tenant: 'old' })
  assert.equal(await ask('old'), SUSPENDED)
})

for (const body of [
  '["acme",{"name":"old","state":"Suspended"}]',
  '["acme",{"name":"old","state":"active"}]',
  '["acme",{"name":"old"}]',
  '["acme","old",{"name":"old","state":"suspended"}]',
]) {
  test(`the list ${body} is unusable`, async (t) => {
    const { ask } = await start(t, { tenants: (await tenantServer(body)).url })
    assert.deepEqual([await ask('acme'), await ask('old')], [UNAVAILABLE, UNAVAILABLE])
  })
}

for (const suspendedTenants of ['refuse', 'read'] as const) {
  for (const tenants of [
    { ids: ['acme'], suspended: ['old'] },
    (name: string) => (name === 'old' ? 'suspended' : name === 'acme'),
  ] satisfies AuthOptions['tenants'][]) {
    test(`with ${suspendedTenants} and a ${typeof tenants}, actAs refuses a suspended tenant`, async (t) => {
      const { app } = await start(t, { tenants, suspendedTenants, asyncContext: true })
      const as = (tenant: string, resources: string[] = []) =>
        app.authService.actAs({ sub: 'job', tenant, resources }, () => {
          return currentAuthorization()?.suspended
        })
      assert.equal(await as('acme'), false)
      for (const resources of [[], ['root:all']]) {
        await assert.rejects(as('old', resources), {
          code: 'ERR_AUTH_TENANT_SUSPENDED',
          statusCode: 403,
        })
      }
      await assert.rejects(as('none'), { code: 'ERR_AUTH_TENANT_UNKNOWN' })
    })
  }
}

for (const suspended of [false, undefined]) {
  test(`suspended: ${suspended} declares nothing`, async (t) => {
    const app = await guardedApp(t, { tenants: { ids: ['acme'], suspended: ['old'] } })
    app.get('/x', { config: { suspended } }, async () => 'x')
    app.get('/:tenant/x', { config: { suspended } }, async () => 'x')
    const headers = await as({ old: [] })
    assert.equal(outcome(await app.inject({ url: '/old/x', headers })), SUSPENDED)
    assert.equal(outcome(await app.inject({ url: '/x', headers })), '200')
  })
}

test('in dev mode lists and functions count, and no list is fetched', async (t) => {
  const server = await tenantServer('[{"name":"default","state":"suspended"}]')
  const sources: readonly [tenants: NonNullable<AuthOptions['tenants']>, verdict: string][] = [
    [{ ids: ['acme'], suspended: ['default'] }, SUSPENDED],
    [() => 'suspended', SUSPENDED],
    [server.url, '200'],
  ]
  for (const [tenants, verdict] of sources) {
    const app = bareApp(t)
    await app.register(tenantAuth, { devMode: true, tenants })
    app.get('/:tenant', async () => 'x')
    app.get('/serving/:tenant', { config: { suspended: true } }, async (request) => ({
      suspended: authorizationOf(request)?.suspended,
    }))
    assert.equal(outcome(await app.inject('/default')), verdict)
    const served = await app.inject('/serving/default')
    assert.deepEqual(served.json(), { suspended: verdict === SUSPENDED })
  }
  assert.equal(server.count, 0)
})
