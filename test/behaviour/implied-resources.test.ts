import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import tenantAuth, { AuthService, authorizationOf, currentAuthorization } from '../../lib/index.ts'
import { as, authority, bareApp, guardedApp, trusting } from '../helpers/app/guarded-app.ts'
import { assertRefused, outcome } from '../helpers/app/refusals.ts'

const IMPLIES = {
  'admin:all': ['menu:edit', 'order:cancel'],
  'menu:edit': ['menu:read'],
  'constructor:own': ['toString:own'],
}

/** What is required, what is held, and the verdict. */
const REQUIREMENTS: readonly [
  require: string | string[] | { any: string[] },
  held: string[],
  meets: boolean,
][] = [
  ['menu:read', ['menu:read'], true],
  ['menu:read', ['menu:edit'], true],
  ['menu:read', ['admin:all'], true],
  [['order:cancel', 'menu:read'], ['admin:all'], true],
  [{ any: ['order:erase', 'menu:read'] }, ['admin:all'], true],
  ['toString:own', ['constructor:own'], true],
  ['menu:edit', ['menu:read'], false],
  ['admin:all', ['menu:edit', 'order:cancel'], false],
  ['order:cancel', ['menu:edit'], false],
  ['__proto__:own', ['constructor:own'], false],
]

for (const [require, held, meets] of REQUIREMENTS) {
  const verdict = meets ? 'meets' : 'does not meet'
  test(`${held} ${verdict} ${JSON.stringify(require)}`, async (t) => {
    const app = await guardedApp(t, { implies: IMPLIES })
    app.get('/:tenant/x', { config: { require } }, async () => 'x')
    for (const rights of [{ acme: held }, { acme: [], '*': held }]) {
      const response = await app.inject({ url: '/acme/x', headers: await as(rights) })
      if (meets) assert.equal(outcome(response), '200')
      else assertRefused(response, 'ERR_AUTH_RESOURCE_MISSING', [require].flat().join(' '))
    }
  })
}

test('what is held in one tenant implies nothing in another one, nor without one', async (t) => {
  const app = await guardedApp(t, { implies: IMPLIES })
  const config = { require: 'menu:read' }
  app.get('/:tenant/x', { config }, async () => 'x')
  app.get('/x', { config }, async () => 'x')
  const headers = await as({ acme: ['menu:edit'], other: [] })
  for (const url of ['/other/x', '/x']) {
    assertRefused(await app.inject({ url, headers }), 'ERR_AUTH_RESOURCE_MISSING', 'menu:read')
  }
})

test('what a pinned issuer grants everywhere implies nothing beyond its tenants', async (t) => {
  const app = bareApp(t)
  const issuers = [authority.issuerRules({ tenants: ['acme'] })]
  await app.register(tenantAuth, { issuers, audience: authority.audience, implies: IMPLIES })
  const config = { require: 'menu:read' }
  app.get('/:tenant/x', { config }, async () => 'x')
  app.get('/x', { config }, async () => 'x')
  const headers = await as({ '*': ['menu:edit'], acme: [], other: [] })
  const answers = ['/acme/x', '/other/x', '/x'].map((url) => app.inject({ url, headers }))
  assert.deepEqual((await Promise.all(answers)).map(outcome), [
    '200',
    '403 ERR_AUTH_TENANT_FORBIDDEN',
    '403 ERR_AUTH_RESOURCE_MISSING',
  ])
})

test('resources stay literal, and methods count what is implied', async (t) => {
  const app = await guardedApp(t, { implies: IMPLIES })
  app.get('/:tenant/x', { config: { resources: true } }, async (request) => {
    const authorization = authorizationOf(request)
    authorization?.require('menu:read', 'menu:edit')
    authorization?.requireAny('order:erase', 'menu:read')
    return {
      literal: [...request.resources],
      claims: authorization?.userInfo.resources,
      has: authorization?.has('menu:read'),
      hasAny: authorization?.hasAny('order:erase', 'menu:read'),
      hasNot: authorization?.has('order:cancel'),
      elsewhere: authorization?.in('other').has('menu:read'),
    }
  })
  const rights = { acme: ['menu:edit'], other: [] }
  const response = await app.inject({ url: '/acme/x', headers: await as(rights) })
  assert.deepEqual(response.json(), {
    literal: ['menu:edit'],
    claims: rights,
    has: true,
    hasAny: true,
    hasNot: false,
    elsewhere: false,
  })
})

test('rights from the application, of the mock user and of work without a request count it too', async (t) => {
  const config = { require: 'menu:read' }
  const own = await guardedApp(t, {
    implies: IMPLIES,
    resourcesOf: () => ({ acme: ['admin:all'] }),
    asyncContext: true,
  })
  own.get('/:tenant/x', { config }, async () => 'x')
  assert.equal(outcome(await own.inject({ url: '/acme/x', headers: await as({}) })), '200')
  const who = { sub: 'job', tenant: 'acme', resources: ['menu:edit'] }
  const held = await own.authService.actAs(who, () => currentAuthorization()?.has('menu:read'))
  assert.equal(held, true)
  const dev = await guardedApp(t, { devMode: true, implies: { 'a:b': ['menu:read'] } })
  dev.get('/:tenant/x', { config }, async () => 'x')
  assert.equal(outcome(await dev.inject('/default/x')), '403 ERR_AUTH_RESOURCE_MISSING')
})

test('the application may change its object: the copy counts', async (t) => {
  const list = ['menu:read']
  const app = await guardedApp(t, { implies: { 'menu:edit': list } })
  list.push('order:cancel')
  app.get('/:tenant/x', { config: { require: 'order:cancel' } }, async () => 'x')
  const response = await app.inject({ url: '/acme/x', headers: await as({ acme: ['menu:edit'] }) })
  assert.equal(outcome(response), '403 ERR_AUTH_RESOURCE_MISSING')
})

const WRONG: readonly [what: string, options: object, message: RegExp][] = [
  ['a list', { implies: ['a:b'] }, /implies: expected an object of resource ids without \*/],
  ['an empty list', { implies: { 'a:b': [] } }, /implies: expected an object of resource ids/],
  ['a hole', { implies: { 'a:b': new Array(1) } }, /implies: expected an object of resource ids/],
  [
    'a text in place of a list',
    { implies: { 'a:b': 'c:d' } },
    /implies: expected an object of resource ids/,
  ],
  ['a bad id', { implies: { a: ['c:d'] } }, /implies: expected an object of resource ids/],
  [
    'a bad implied id',
    { implies: { 'a:b': ['c:d', 'c'] } },
    /implies: expected an object of resource ids/,
  ],
  [
    'a pattern',
    { implies: { 'menu:*': ['c:d'] } },
    /implies: expected an object of resource ids without \*/,
  ],
  ['an implied pattern', { implies: { 'a:b': ['menu:*'] } }, /without \*/],
  ['an id that implies itself', { implies: { 'a:b': ['a:b'] } }, /do not imply themselves.*a:b/],
  [
    'a circle',
    { implies: { 'x:y': ['a:b'], 'a:b': ['c:d'], 'c:d': ['e:f'], 'e:f': ['a:b'] } },
    /do not imply themselves, found a:b/,
  ],
  [
    'the right of superusers',
    { implies: { 'a:b': ['c:d'], 'c:d': ['root:all'] }, superuserResource: 'root:all' },
    /do not imply superuserResource, found root:all/,
  ],
]

for (const [what, options, message] of WRONG) {
  test(`${what} stops the boot`, () => {
    assert.throws(() => new AuthService({ ...trusting(), ...options }), {
      code: 'ERR_AUTH_CONFIG_INVALID',
      message,
    })
  })
}

test('the section [implies] of an INI file gives lists', async (t) => {
  const file = join(tmpdir(), `implies-${process.pid}.ini`)
  const { issuer, audience } = authority
  const start = async (text: string) => {
    writeFileSync(file, `[auth]\nissuer = ${issuer}\naudience = ${audience}\n${text}`)
    const { publicKeys } = authority.options
    return guardedApp(t, { configFile: file, publicKeys, issuer, audience })
  }
  const app = await start('[implies]\nadmin:all = menu:edit, order:cancel\nmenu:edit = menu:read\n')
  app.get('/:tenant/x', { config: { require: ['menu:read', 'order:cancel'] } }, async () => 'x')
  const response = await app.inject({ url: '/acme/x', headers: await as({ acme: ['admin:all'] }) })
  assert.equal(outcome(response), '200')
  for (const [text, message] of [
    ['[implies]\nmenu:edit =\n', /^menu:edit: expected a resource id .* found \[\] .*line 5/],
    ['[implies]\nmenu:edit = "x\n', /menu:edit: expected both quotes or none/],
    ['[implies]\na:b = c:d\nc:d = a:b\n', /do not imply themselves, found a:b, c:d .*line 5/],
    ['[implied]\n', /did you mean/],
    ['[Implies]\n', /did you mean \[implies\]/],
    ['[implie]\n', /did you mean \[implies\]/],
  ] as const) {
    await assert.rejects(start(text), { code: 'ERR_AUTH_CONFIG_INVALID', message })
  }
})
