import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyRequest } from 'fastify'
import tenantAuth, { type AuthOptions } from '../../lib/index.ts'
import { assertRouteInvalid } from '../helpers/app/config-error.ts'
import { as, authority, bareApp, guardedApp, trusting } from '../helpers/app/guarded-app.ts'
import { heard } from '../helpers/app/heard.ts'
import { logLines } from '../helpers/app/log-lines.ts'
import { assertRefused, outcome } from '../helpers/app/refusals.ts'

const AMONG = ['menu:read', 'menu:edit', 'menu:erase']
const BOTH = 'menu:read menu:edit menu:erase'

/** What the function returns, what the user holds, and the scope of the refusal; null: admitted. */
const CHOICES: readonly [chosen: unknown, held: string[], scope: string | null][] = [
  ['menu:read', ['menu:read'], null],
  [['menu:read', 'menu:edit'], ['menu:read', 'menu:edit'], null],
  ['menu:edit', ['menu:read'], 'menu:edit'],
  [['menu:read', 'menu:edit'], ['menu:read'], 'menu:read menu:edit'],
  [['menu:edit', 'menu:edit'], ['menu:edit'], null],
]

for (const [chosen, held, scope] of CHOICES) {
  const verdict = scope === null ? 'admitted' : `refused for ${scope}`
  test(`${JSON.stringify(chosen)} of a user with ${held} is ${verdict}`, async (t) => {
    const events = heard(t, 'decision')
    const app = await guardedApp(t)
    const by = () => chosen as string
    app.get('/:tenant/x', { config: { require: { by, among: AMONG } } }, async () => 'x')
    const response = await app.inject({ url: '/acme/x', headers: await as({ acme: held }) })
    if (scope === null) assert.equal(outcome(response), '200')
    else assertRefused(response, 'ERR_AUTH_RESOURCE_MISSING', scope)
    assert.deepEqual(events[0]?.required, [chosen].flat())
  })
}

const ROOT = 'authz:superuser'

const WRONG: readonly [what: string, by: () => unknown][] = [
  ['an id that is not among them', () => 'order:read'],
  ['a list with another id', () => ['menu:read', 'order:read']],
  ['an empty list', () => []],
  ['a hole', () => new Array(1)],
  ['nothing', () => undefined],
  ['null', () => null],
  ['a promise', async () => 'menu:read'],
  ['a promise that fails', () => Promise.reject(new Error('broken'))],
  ['promises that fail', () => [1, 2].map(() => Promise.reject(new Error('broken')))],
  ['a number', () => 7],
  ['an object', () => ({ any: ['menu:read'] })],
  ['a text object', () => new String('menu:read')],
  [
    'an error',
    () => {
      throw new Error('broken')
    },
  ],
]

for (const [what, by] of WRONG) {
  test(`where the function gives ${what}, nobody is admitted, and the log says why`, async (t) => {
    const log = logLines()
    const options: AuthOptions = { superuserResource: ROOT }
    const app = await guardedApp(t, options, { logger: log.logger })
    const config = { require: { by: by as () => string, among: AMONG } }
    app.get('/:tenant/x', { config }, async () => 'x')
    for (const rights of [{ acme: AMONG }, { '*': [ROOT] }]) {
      const response = await app.inject({ url: '/acme/x', headers: await as(rights) })
      assertRefused(response, 'ERR_AUTH_RESOURCE_MISSING', BOTH)
    }
    const lines = log.lines('require.by failed')
    assert.deepEqual(
      lines.map(({ level, err }) => [level, typeof err]),
      [
        [50, 'object'],
        [50, 'object'],
      ],
    )
  })
}

test('the function sees the request before its body, and only after all other steps', async (t) => {
  const seen: unknown[] = []
  const app = await guardedApp(t, { superuserResource: ROOT })
  const by = (request: FastifyRequest) => {
    seen.push(request.body, request.headers['mcp-name'])
    return request.headers['mcp-name'] === 'edit' ? 'menu:edit' : 'menu:read'
  }
  app.post('/:tenant/x', { config: { require: { by, among: AMONG } } }, async () => 'x')
  const post = async (rights: Record<string, string[]>, name: string, tenant = 'acme') => {
    const headers = { ...(await as(rights)), 'mcp-name': name }
    return outcome(await app.inject({ method: 'POST', url: `/${tenant}/x`, headers, payload: {} }))
  }
  assert.equal(await post({ acme: ['menu:read'] }, 'read'), '200')
  assert.deepEqual(seen.splice(0), [undefined, 'read'])
  assert.equal(await post({ acme: ['menu:read'] }, 'edit'), '403 ERR_AUTH_RESOURCE_MISSING')
  assert.equal(await post({ '*': [ROOT] }, 'edit'), '200')
  seen.splice(0)
  assert.equal(await post({ acme: [] }, 'read', 'other'), '403 ERR_AUTH_TENANT_FORBIDDEN')
  assert.deepEqual(seen, [])
})

test('the function is asked before the body only, even if the decision is made anew', async (t) => {
  const { issuer, audience, publicKeys } = authority
  const rules = { audience, publicKeys, tenants: '*' as const }
  let tokenTypes = ['at+jwt']
  const app = bareApp(t)
  await app.register(tenantAuth, { issuers: () => ({ ...rules, tokenTypes }) })
  app.get('/:tenant/x', async () => 'x')
  const asked: unknown[] = []
  const by = ({ query }: FastifyRequest) => {
    asked.push(query)
    return Object(query).id
  }
  const querystring = { type: 'object', additionalProperties: false, properties: {} }
  /** The issuer is replaced while the body comes. */
  const preParsing = async () => {
    tokenTypes = ['at+jwt', 'JWT']
    app.authService.forget({ issuer })
    assert.equal(
      outcome(await app.inject({ url: '/acme/x', headers: await as({ acme: [] }) })),
      '200',
    )
  }
  const config = { require: { by, among: AMONG } }
  app.post('/:tenant/y', { config, schema: { querystring }, preParsing }, async () => 'y')
  const headers = await as({ acme: ['menu:read'] })
  const url = '/acme/y?id=menu:read'
  assert.equal(outcome(await app.inject({ method: 'POST', url, headers, payload: {} })), '200')
  assert.equal(asked.length, 1)
})

test('an early route and dev mode ask the function too', async (t) => {
  const config = { require: { by: () => 'menu:edit', among: AMONG } }
  for (const options of [trusting(), { devMode: true }]) {
    const app = bareApp(t)
    app.get('/early/:tenant', { config }, async () => 'x')
    await app.register(tenantAuth, options)
    app.get('/late/:tenant', { config }, async () => 'x')
    const headers = await as({ default: ['menu:read'] })
    for (const url of ['/early/default', '/late/default']) {
      const response = await app.inject({ url, headers })
      assertRefused(response, 'ERR_AUTH_RESOURCE_MISSING', 'menu:edit')
    }
  }
})

test('routes() shows all ids, and so does the document', async (t) => {
  const app = await guardedApp(t)
  const require = { by: () => 'menu:read', among: AMONG }
  app.get('/:tenant/x', { config: { require } }, async () => 'x')
  await app.ready()
  const [route] = app.authService.routes()
  assert.deepEqual(route?.require, { among: AMONG })
  const paths = { '/{tenant}/x': { get: { responses: {} } } }
  const document = app.authService.openapi({ paths })
  assert.match(JSON.stringify(document), /By the request it requires of menu:read, menu:edit/)
})

for (const [require, found] of [
  [{ by: () => 'a:b', among: [] }, 'by'],
  [{ by: () => 'a:b', among: ['a'] }, 'by'],
  [{ by: () => 'a:b' }, 'by'],
  [{ among: ['a:b'] }, 'among'],
  [{ by: 'a:b', among: ['a:b'] }, 'by'],
  [{ by: () => 'a:b', among: ['a:b'], any: ['a:b'] }, 'by'],
] as const) {
  test(`a requirement ${JSON.stringify(require)} stops the boot`, async (t) => {
    const app = await guardedApp(t)
    app.get('/x', { config: { require } as object }, async () => 'x')
    await assertRouteInvalid(
      app,
      new RegExp(`^GET /x: require is empty, or not made of ids .*${found}`),
    )
  })
}
