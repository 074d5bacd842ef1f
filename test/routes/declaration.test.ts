import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { errors } from '../../lib/index.ts'
import { NEVER_MET, readDeclaration } from '../../lib/routes/declaration.ts'
import { assertRouteInvalid } from '../helpers/app/config-error.ts'
import { guardedApp } from '../helpers/app/guarded-app.ts'

/** A config that would open a door, and the message about it. */
const REFUSED: readonly [config: object, problem: string][] = [
  [{ noauth: 'yes' }, "noauth is no boolean, found 'yes'"],
  [{ noauth: 'true' }, "noauth is no boolean, found 'true'"],
  [{ noauth: 1 }, 'noauth is no boolean, found 1'],
  [{ noauth: null }, 'noauth is no boolean, found null'],
  [{ noauth: {} }, 'noauth is no boolean, found {}'],
  [{ noauth: true, guests: true }, 'noauth contradicts guests'],
  [
    { noauth: true, late: true },
    'noauth contradicts late; late is declared without a tenant; late is declared, and resolveTenant is not given',
  ],
  [{ noauth: true, tenant: true, resources: true }, 'noauth contradicts resources'],
  [{ noauth: true, userInfo: true }, 'noauth contradicts userInfo'],
  [{ noauth: true, resources: true }, 'noauth contradicts resources'],
  [{ noauth: true, authorization: true }, 'noauth contradicts authorization'],
  [{ noauth: true, require: 'a:b' }, 'noauth contradicts require'],
  [{ noauth: true, userInfo: true, require: ['a:b'] }, 'noauth contradicts userInfo, require'],
  [{ tenant: 'yes' }, "tenant is not true, 'required' or 'optional', found 'yes'"],
  [{ tenant: 1 }, "tenant is not true, 'required' or 'optional', found 1"],
  [{ tenant: null }, "tenant is not true, 'required' or 'optional', found null"],
  [{ tenant: 'Required' }, "tenant is not true, 'required' or 'optional', found 'Required'"],
  [{ userInfo: 'true' }, "userInfo is no boolean, found 'true'"],
  [{ resources: ['order:read'] }, "resources is no boolean, found [ 'order:read' ]"],
  [{ authorization: null }, 'authorization is no boolean, found null'],
  [
    { userInfo: 0, resources: 0 },
    'userInfo is no boolean, found 0; resources is no boolean, found 0',
  ],
]

const BAD_REQUIREMENTS: readonly unknown[] = [
  '',
  [],
  {},
  { any: [] },
  { any: 'order:read' },
  { all: ['order:read'] },
  { any: ['order:read'], all: ['order:cancel'] },
  true,
  null,
  7,
  'order',
  ':read',
  'order:',
  'order read:x',
  'order:re ad',
  'order:"read"',
  'order:\\read',
  'bücher:read',
  'order:read\n',
  'order:read order:cancel',
  ['order:read', 'order'],
  ['order:read', ['order:cancel']],
  [undefined],
  { any: ['order:read', ''] },
  Object.assign(() => {}, { any: ['order:read'] }),
]

/** A slip of one of our keys, and the key that was meant. */
const SLIPS: readonly [slip: string, meant: string][] = [
  ['noAuth', 'noauth'],
  ['no_auth', 'noauth'],
  ['NOAUTH', 'noauth'],
  ['noaut', 'noauth'],
  ['noauht', 'noauth'],
  ['onauth', 'noauth'],
  ['tenatn', 'tenant'],
  ['noauthx', 'noauth'],
  ['xnoauth', 'noauth'],
  ['noauth_', 'noauth'],
  ['Tenant', 'tenant'],
  ['ten_ant', 'tenant'],
  ['tenants', 'tenant'],
  ['tennant', 'tenant'],
  ['tenent', 'tenant'],
  ['userinfo', 'userInfo'],
  ['user_info', 'userInfo'],
  ['user-info', 'userInfo'],
  ['usrInfo', 'userInfo'],
  ['resource', 'resources'],
  ['Resources', 'resources'],
  ['authorisation', 'authorization'],
  ['authorizations', 'authorization'],
  ['requires', 'require'],
  ['required', 'require'],
  ['Require', 'require'],
  ['requir', 'require'],
  ['requireAny', 'require'],
  ['require_any', 'require'],
  ['require_any_of', 'require'],
  ['requireAll', 'require'],
  ['requiresEach', 'require'],
  ['checks', 'check'],
  ['chek', 'check'],
  ['guest', 'guests'],
  ['suspendet', 'suspended'],
  ['confirmations', 'confirmation'],
  ['step_up', 'stepUp'],
]

const ALL_REFUSED: readonly (readonly [config: object, problem: string])[] = [
  ...REFUSED,
  ...BAD_REQUIREMENTS.map(
    (require) =>
      [
        { require },
        `require is empty, or not made of ids <name>:<action>, found ${inspect(require)}`,
      ] as const,
  ),
  ...SLIPS.map(([slip, meant]) => [{ [slip]: true }, `${slip} looks like ${meant}`] as const),
]

for (const [config, problem] of ALL_REFUSED) {
  test(`config ${JSON.stringify(config)} stops the boot: ${problem}`, async (t) => {
    const app = await guardedApp(t)
    app.get('/orders/:id', { config }, async () => 'never')
    await assertRouteInvalid(app, `GET /orders/:id: ${problem}`)
  })
}

/** Configs that boot: they declare nothing, or their keys belong to the application. */
const ACCEPTED: readonly object[] = [
  {},
  { noauth: true },
  { noauth: false, tenant: true, userInfo: true, resources: true, authorization: true },
  { noauth: true, tenant: false, userInfo: false, resources: undefined, require: false },
  { tenant: undefined, userInfo: undefined, require: undefined, noauth: undefined },
  { tenant: 'required', require: 'order:read' },
  { tenant: 'optional', require: ['order:read', 'authz:superuser'] },
  { require: { any: ['urn:x:order:read', '!:~'] } },
  { rateLimit: { max: 3 }, swagger: true, url: '/x', auth: [], user: 1, info: 2, name: '' },
  {
    anouth: 1,
    ntenat: 1,
    role: 'x',
    source: 1,
    tags: [],
    permissions: [],
    requirement: 1,
    tenancy: 1,
    tenantss: 1,
    requireAnything: 1,
    notRequired: 1,
    '': true,
  },
]

for (const config of ACCEPTED) {
  test(`config ${JSON.stringify(config)} boots`, async (t) => {
    const app = await guardedApp(t)
    app.get('/orders', { config }, async () => 'never')
    await app.ready()
  })
}

test('a boot error is an ERR_AUTH_ROUTE_INVALID and names every method', async (t) => {
  const app = await guardedApp(t)
  const config: object = { noauth: 1 }
  app.route({ method: ['PUT', 'POST'], url: '/x', config, handler: async () => 'never' })
  await assert.rejects(
    async () => app.ready(),
    (error) =>
      error instanceof errors.ERR_AUTH_ROUTE_INVALID &&
      error.message === 'PUT, POST /x: noauth is no boolean, found 1',
  )
})

test('a requirement is read as all of its ids or any, and is copied', () => {
  const ids = ['a:b', 'c:d']
  const { declared } = readDeclaration({ require: ids })
  ids.pop()
  assert.deepEqual(declared.requirement, { mode: 'all', ids: ['a:b', 'c:d'] })
  assert.deepEqual(readDeclaration({ require: 'a:b' }).declared.requirement, {
    mode: 'all',
    ids: ['a:b'],
  })
  assert.deepEqual(readDeclaration({ require: { any: ['a:b'] } }).declared.requirement, {
    mode: 'any',
    ids: ['a:b'],
  })
})

test('each mistake is understood in the stricter way', () => {
  for (const [config] of ALL_REFUSED) {
    assert.equal(readDeclaration(config).declared.noauth, false)
  }
  for (const other of ['tenant', 'userInfo', 'resources', 'authorization', 'require']) {
    const { declared } = readDeclaration({ noauth: true, [other]: null })
    assert.equal(declared.noauth, false, `noauth beside ${other}: null`)
  }
  for (const tenant of ['yes', 'Optional', 1, null]) {
    assert.equal(readDeclaration({ tenant }).declared.tenant, true)
  }
  for (const require of BAD_REQUIREMENTS) {
    assert.deepEqual(readDeclaration({ require }).declared.requirement, { mode: 'any', ids: [] })
  }
})

/** Declarations that Fastify's copy of a config loses, or turns into plain values. */
const HIDDEN: readonly [what: string, config: object, problem: string][] = [
  ['inherited', Object.create({ require: 'a:b' }), 'require is inherited'],
  ['inherited from far', Object.create(Object.create({ noauth: true })), 'noauth is inherited'],
  [
    'inherited from what inherits nothing',
    Object.create(Object.assign(Object.create(null), { tenant: true })),
    'tenant is inherited',
  ],
  [
    "a class's getter",
    new (class {
      get require() {
        return 'a:b'
      }
    })(),
    'require is inherited',
  ],
  [
    'a getter',
    {
      get require() {
        return 'a:b'
      },
    },
    'require is a getter',
  ],
  ['a setter', { set require(_value: string) {} }, 'require is a getter'],
  [
    'not enumerable',
    Object.defineProperty({}, 'require', { value: 'a:b' }),
    'require is not enumerable',
  ],
  ['a slip, inherited', Object.create({ requires: 'a:b' }), 'requires is inherited'],
  [
    'beside a hasOwnProperty of its own',
    Object.defineProperty({ hasOwnProperty: null }, 'require', { value: 'a:b' }),
    'require is not enumerable',
  ],
  [
    'inherited beside a hasOwnProperty',
    Object.create({ check: 'owner', hasOwnProperty: null }),
    'check is inherited',
  ],
]

for (const [what, config, problem] of HIDDEN) {
  test(`a declaration that is ${what} stops the boot: ${problem}`, async (t) => {
    const app = await guardedApp(t)
    app.get('/x', { config }, async () => 'never')
    await assertRouteInvalid(app, `GET /x: ${problem}`)
  })
}

test('a declaration of its own is not hidden by one that is inherited', () => {
  const config = Object.assign(Object.create({ require: 'c:d' }), { require: 'a:b' })
  const { declared, problems } = readDeclaration(config)
  assert.deepEqual([declared.requirement?.ids, problems], [['a:b'], []])
})

test('a hidden declaration that a later onRoute hook puts in place stops the boot too', async (t) => {
  const app = await guardedApp(t)
  app.addHook('onRoute', (route) => {
    route.config = Object.create({ require: 'a:b' })
  })
  app.get('/x', async () => 'never')
  await assert.rejects(async () => app.ready(), { message: 'GET /x: require is inherited' })
})

test('a hidden declaration opens nothing, and a member that all objects inherit is not a declaration', (t) => {
  const { declared, problems } = readDeclaration(Object.create({ noauth: true, tenant: true }))
  assert.deepEqual([declared.noauth, declared.tenant], [false, false])
  assert.deepEqual(problems, ['noauth is inherited', 'tenant is inherited'])
  Object.defineProperty(Object.prototype, 'noauth', { value: true, configurable: true })
  t.after(() => Reflect.deleteProperty(Object.prototype, 'noauth'))
  assert.deepEqual(readDeclaration({}).problems, [])
})

test('a boot error lists the problems of all routes, and those of a HEAD twin only once', async (t) => {
  const app = await guardedApp(t)
  const [one, two]: object[] = [{ noauth: 1 }, { requireAny: ['a:b'], tenant: 'yes' }]
  app.get('/one', { config: { ...one } }, async () => 'never')
  app.post('/two', { config: { ...two } }, async () => 'never')
  app.head('/three', { config: { ...one } }, async () => 'never')
  await assert.rejects(async () => app.ready(), {
    message: [
      'GET /one: noauth is no boolean, found 1',
      "POST /two: requireAny looks like require; tenant is not true, 'required' or 'optional', found 'yes'",
      'HEAD /three: noauth is no boolean, found 1',
    ].join('\n'),
  })
})

test('a long value is cut in a message', () => {
  const [problem = ''] = readDeclaration({ noauth: 'x'.repeat(200) }).problems
  assert.equal(problem, `noauth is no boolean, found '${'x'.repeat(79)}`)
})

test('a value is shown on one line, to its second level', () => {
  const nested = { a: { b: { c: 1 } } }
  const long = ['x'.repeat(30), 'y'.repeat(30), 'z']
  for (const [value, shown] of [
    [nested, '{ a: { b: [Object] } }'],
    [long, `[ '${'x'.repeat(30)}', '${'y'.repeat(30)}', 'z' ]`],
  ] as const) {
    const { problems } = readDeclaration({ noauth: value })
    assert.deepEqual(problems, [`noauth is no boolean, found ${shown}`])
  }
})

test('a requirement that is hidden or misspelt is one that no user meets', () => {
  for (const config of [
    Object.create({ require: 'a:b' }),
    Object.create({ requires: 'a:b' }),
    { requires: 'a:b' },
    { requires: 'a:b', require: 'a:b' },
  ]) {
    assert.equal(readDeclaration(config).declared.requirement, NEVER_MET)
  }
  const inherited = Object.assign(Object.create({ tenant: true }), { require: 'a:b' })
  for (const config of [inherited, { tenants: true, require: 'a:b' }]) {
    assert.deepEqual(readDeclaration(config).declared.requirement?.ids, ['a:b'])
  }
})

test('no id can be added to the requirement that no user meets', () => {
  assert.deepEqual([Object.isFrozen(NEVER_MET), Object.isFrozen(NEVER_MET.ids)], [true, true])
})
