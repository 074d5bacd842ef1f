import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { buildSync } from 'esbuild'
import Fastify from 'fastify'
import { type Replacement, sabotagedLibs } from '../helpers/documents/sabotaged-lib.ts'

const sabotagedLib = sabotagedLibs()

/** A copy of lib/ with a guard that lacks something. To load its modules one by one takes longer. */
async function sabotaged(replacements: readonly Replacement[]) {
  const lib = sabotagedLib(replacements)
  const outdir = `${lib}-bundled`
  buildSync({
    entryPoints: {
      index: join(lib, 'index.ts'),
      testing: join(lib, 'entrypoints/testing/index.ts'),
    },
    ...{ outdir, bundle: true, splitting: true, format: 'esm', packages: 'external' },
  })
  const index: typeof import('../../lib/index.ts') = await import(join(outdir, 'index.js'))
  const testing: typeof import('../../lib/entrypoints/testing/index.ts') = await import(
    join(outdir, 'testing.js')
  )
  return { ...index, ...testing }
}

/** An application whose handlers count, with routes of all kinds, behind such a guard. */
async function application(t: TestContext, replacements: readonly Replacement[]) {
  const { tenantAuth, createTestAuthority, assertGuarded } = await sabotaged(replacements)
  const authority = await createTestAuthority()
  const app = Fastify()
  t.after(() => app.close())
  const handled = { count: 0 }
  const handler = async () => {
    handled.count += 1
  }
  app.get('/early', handler)
  app.register(tenantAuth, {
    issuers: [authority.issuerRules({ tenants: ['acme', 'acme-test'] })],
    superuserResource: 'authz:superuser',
    tenants: ['acme', 'acme-test', 'elsewhere'],
  })
  await app.register(async (scope) => {
    scope.get('/health', { config: { noauth: true } }, handler)
    scope.get('/me', { config: { userInfo: true } }, handler)
    scope.get('/:tenant/menus', { config: { tenant: 'required' } }, handler)
    scope.get('/orders', { config: { tenant: true } }, handler)
    scope.get('/news', { config: { tenant: 'optional', require: 'news:read' } }, handler)
    scope.get('/reports', { config: { require: 'report:read' } }, handler)
    scope.post(
      '/:tenant/menus',
      {
        config: { tenant: true, require: ['menu:read', 'menu:write'] },
        schema: { body: { type: 'object', required: ['text'] } },
      },
      handler,
    )
    scope.get('/account', { config: { stepUp: { acr: 'phr', maxAge: 60 } } }, handler)
    scope.put('/any', { config: { require: { any: ['menu:read', 'menu:write'] } } }, handler)
  })
  return { handled, assertion: () => assertGuarded(app, authority, { tenant: 'acme' }) }
}

test('a whole guard is guarded, and no handler has run', async (t) => {
  const { handled, assertion } = await application(t, [])
  await assertion()
  assert.equal(handled.count, 0)
})

const OPEN = 'if (policy === null || policy.isExempt) {'
const openIf = (condition: string): readonly Replacement[] => [
  ['guard/guard.ts', OPEN, `if (policy === null || policy.isExempt || ${condition}) {`],
]

/** What is removed, and lines of the table that then name a route. */
const SABOTAGES: readonly [
  what: string,
  replacements: readonly Replacement[],
  lines: readonly RegExp[],
][] = [
  [
    'authentication',
    openIf('request.headers.authorization === undefined'),
    [/^GET +\/me +stranger +401 +204, the handler would have run$/m, /^HEAD +\/early +stranger /m],
  ],
  [
    'the expiry',
    [['identity/jwt/registered-claims.ts', 'now >= exp + tolerance', 'false']],
    [/^GET +\/me +expired +401 +204, the handler would have run$/m],
  ],
  [
    'the tenant',
    [['identity/authorization/principal.ts', '!this.#rights.mayActFor(tenant)', 'false']],
    [
      /^GET +\/:tenant\/menus +foreigner +403 ERR_AUTH_TENANT_FORBIDDEN +204, the handler would/m,
      /^HEAD +\/orders +foreigner +403 ERR_AUTH_TENANT_FORBIDDEN +204, /m,
    ],
  ],
  [
    'the requirement',
    [['guard/decide.ts', '!membership.meets(required)', 'false']],
    [
      /^GET +\/reports +without +403 ERR_AUTH_RESOURCE_MISSING +204, the handler would have run$/m,
      /^PUT +\/any +without +403 /m,
    ],
  ],
  [
    'the login that is wanted',
    [['guard/decide.ts', '(loginRefusal(stepUp, context) ?? membership)', 'membership']],
    [/^GET +\/account +stale +401 ERR_AUTH_STEP_UP_REQUIRED +204, the handler would have run$/m],
  ],
  [
    'the second of two required ids',
    [
      [
        'identity/authorization/principal.ts',
        'ids.length > 0 && ids.every(holds)',
        'ids.some(holds)',
      ],
    ],
    [/^POST +\/:tenant\/menus +without +403 ERR_AUTH_RESOURCE_MISSING +400, not from the guard$/m],
  ],
  [
    'the tenant in which an id is held',
    [
      [
        'identity/authorization/principal.ts',
        '= this.principal.grantedIn(this.tenant)',
        "= [this.tenant, 'acme-test'].map((tenant) => this.principal.grantedIn(tenant).flat())",
      ],
    ],
    [
      /^POST +\/:tenant\/menus +without +403 ERR_AUTH_RESOURCE_MISSING +400, not from the guard$/m,
      /^GET +\/reports +without +403 ERR_AUTH_RESOURCE_MISSING +204, /m,
    ],
  ],
  [
    'the requirement where no tenant is named',
    [
      [
        'guard/decide.ts',
        'if (requirement !== null) {',
        'if (requirement !== null && context.tenant !== null) {',
      ],
    ],
    [/^GET +\/news +without +403 ERR_AUTH_RESOURCE_MISSING +204, the handler would have run$/m],
  ],
  [
    'the pin',
    [
      [
        'identity/authorization/principal.ts',
        'new Rights(resources, rules, pin)',
        'new Rights(resources, rules)',
      ],
    ],
    [
      /^GET +\/:tenant\/menus +foreigner +403 ERR_AUTH_TENANT_FORBIDDEN +204, the handler would/m,
      /^GET +\/orders +foreigner +403 ERR_AUTH_TENANT_FORBIDDEN +204, /m,
      /^GET +\/reports +without +403 ERR_AUTH_RESOURCE_MISSING +204, /m,
    ],
  ],
  [
    'what is granted everywhere, of the pin alone',
    [['identity/authorization/rights.ts', ': [NONE, NONE]', ': [everywhere, NONE]']],
    [/^GET +\/reports +without +403 ERR_AUTH_RESOURCE_MISSING +204, /m],
  ],
  [
    'early routes',
    [
      [
        'routes/route-registry.ts',
        'this.#earlyProblems = this.#setPolicies(early, true)',
        'this.#earlyProblems = []',
      ],
      [
        'routes/route-registry.ts',
        "if (route.policy === undefined) return this.#closed(config, 'was not known at boot')",
        'if (route.policy === undefined) return null',
      ],
    ],
    [/^GET +\/early +stranger +401 +204, the handler would have run$/m],
  ],
  [
    'HEAD',
    openIf("request.method === 'HEAD'"),
    [/^HEAD +\/me +stranger +401 +204, the handler would have run$/m],
  ],
]

for (const [what, replacements, lines] of SABOTAGES) {
  test(`without ${what}, assertGuarded names the routes, and no handler has run`, async (t) => {
    const { handled, assertion } = await application(t, replacements)
    const error: unknown = await assertion().catch((thrown: unknown) => thrown)
    assert.ok(error instanceof assert.AssertionError, `${error}`)
    for (const line of lines) assert.match(error.message, line)
    assert.doesNotMatch(error.message, /health/)
    assert.equal(handled.count, 0)
  })
}

const SILENT: Replacement[] = [
  ['guard/guard.ts', 'doneInPlace(request, reply, next, registry)', 'next'],
  ['guard/probe-gate.ts', '  replaceHandlers(this)\n', ''],
]

test('of the two answers in the place of a handler one is enough, and without both it would run', async (t) => {
  const openGuard = openIf('request.headers.authorization === undefined')
  for (const removed of [...SILENT.map((one) => [one]), SILENT]) {
    const { handled, assertion } = await application(t, [...openGuard, ...removed])
    await assert.rejects(assertion())
    assert.equal(handled.count > 0, removed === SILENT)
  }
})

test('a guard that does not look at addresses is found out', async (t) => {
  const check = 'if (addressed?.include(tenant) === false) return'
  const gone = [['guard/decide.ts', check, 'if (addressed === null) return']] as const
  const { tenantAuth, createTestAuthority, assertGuarded } = await sabotaged(gone)
  const authority = await createTestAuthority()
  const app = Fastify()
  t.after(() => app.close())
  await app.register(tenantAuth, { ...authority.options, resource: 'https://api.test/:tenant' })
  app.get('/:tenant/menus', async () => assert.fail('a handler has run'))
  app.get('/:tenant/guests', { config: { guests: true } }, async () => assert.fail('it has run'))
  await assert.rejects(assertGuarded(app, authority), ({ message }: Error) => {
    for (const url of ['menus', 'guests']) {
      assert.match(message, new RegExp(`^GET +/:tenant/${url} +foreigner +401 +204,`, 'm'))
    }
    return true
  })
})
