import assert from 'node:assert/strict'
import { test } from 'node:test'
import tenantAuth, { type AuthOptions, AuthService, errors } from '../../lib/index.ts'
import { as, authority, bareApp, guardedApp, untyped } from '../helpers/app/guarded-app.ts'
import { logLines } from '../helpers/app/log-lines.ts'
import type { RefusalCode } from '../helpers/app/refusals.ts'

const fail = () => {
  throw new Error('on purpose')
}

/** A refusal of the guard of each kind, at once and after a wait. */
const REFUSED: readonly [code: RefusalCode, url: string, isUser: boolean, options?: AuthOptions][] =
  [
    ['ERR_AUTH_TOKEN_MISSING', '/x', false],
    ['ERR_AUTH_TOKEN_INVALID', '/x', true, { issuer: 'other' }],
    ['ERR_AUTH_TOKEN_INVALID', '/x', true, { isRevoked: () => true }],
    ['ERR_AUTH_TOKEN_INVALID', '/x', true, { isRevoked: async () => true }],
    ['ERR_AUTH_TENANT_MISSING', '/x', true],
    ['ERR_AUTH_TENANT_INVALID', '/x?tenant=*', true],
    ['ERR_AUTH_TENANT_FORBIDDEN', '/x?tenant=other', true],
    ['ERR_AUTH_TENANT_UNKNOWN', '/x?tenant=lazy-raccoon', true, { tenants: ['other'] }],
    ['ERR_AUTH_TENANT_UNKNOWN', '/x?tenant=lazy-raccoon', true, { tenants: async () => false }],
    ['ERR_AUTH_RESOURCE_MISSING', '/x?tenant=lazy-raccoon', true],
    ['ERR_AUTH_RESOURCE_MISSING', '/any?tenant=lazy-raccoon', true],
    ['ERR_AUTH_TENANTS_UNAVAILABLE', '/x?tenant=lazy-raccoon', true, { tenants: fail }],
    ['ERR_AUTH_TENANTS_UNAVAILABLE', '/x', true, { resolveTenant: async () => fail() }],
    [
      'ERR_AUTH_TENANTS_UNAVAILABLE',
      '/x?tenant=lazy-raccoon',
      true,
      { tenants: 'http://127.0.0.1:1/tenants' },
    ],
    ['ERR_AUTH_REVOCATION_UNAVAILABLE', '/x', true, untyped({ isRevoked: () => 'maybe' })],
    [
      'ERR_AUTH_KEYS_UNAVAILABLE',
      '/x',
      true,
      { publicKeysUrl: 'http://127.0.0.1:1/keys', keysCooldown: 0 },
    ],
  ]

for (const [code, url, isUser, options = {}] of REFUSED) {
  test(`${code} of the guard has no stack: ${url} with ${Object.keys(options).join() || 'nothing'}`, async (t) => {
    const { logger, raw } = logLines()
    const app = bareApp(t, { logger })
    const { publicKeys, ...trusted } = authority.options
    const keys = options.publicKeysUrl === undefined ? { publicKeys } : {}
    await app.register(tenantAuth, { ...trusted, ...keys, ...options })
    const caught: Error[] = []
    app.addHook('onError', async (_request, _reply, error) => void caught.push(error))
    const config = { tenant: true, require: ['a:b'] } as const
    app.get('/x', { config }, async () => 'never')
    const any = { tenant: true, require: { any: ['a:b', 'c:d'] } } as const
    app.get('/any', { config: any }, async () => 'never')
    const limit = Error.stackTraceLimit
    const response = await app.inject({ url, headers: isUser ? await as() : {} })
    assert.equal(response.json().code, code)
    const found = caught.map(({ stack }) => stack)
    assert.deepEqual(found, [`AuthError: ${response.json().message}`])
    assert.equal(Error.stackTraceLimit, limit)
    // What a function of the application threw has its own line, with its own stack.
    const ownLines = raw.filter((line) => !Object.hasOwn(JSON.parse(line), 'function'))
    assert.doesNotMatch(ownLines.join(''), /\bat .*\/lib\//)
  })
}

test('a refusal that a handler asks for has its stack, which names the handler', async (t) => {
  const app = await guardedApp(t)
  const config = { authorization: true } as const
  for (const method of ['require', 'requireAny', 'in'] as const) {
    app.get(`/${method}`, { config }, async function namedHandler({ authorization }) {
      authorization[method]('other:thing')
    })
  }
  app.get('/invalid', { config }, async function namedHandler({ authorization }) {
    authorization.in('*')
  })
  const stacks: (string | undefined)[] = []
  app.addHook('onError', async (_request, _reply, error) => void stacks.push(error.stack))
  for (const url of ['/require', '/requireAny', '/in', '/invalid']) {
    await app.inject({ url, headers: await as() })
  }
  assert.equal(stacks.length, 4)
  for (const stack of stacks) assert.match(stack ?? '', /^AuthError: [^\n]+\n.*namedHandler/s)
})

test('an error of the boot, and of refreshKeys, has its stack', async () => {
  assert.throws(
    () => new AuthService(untyped({ issuer: 5 })),
    (error) =>
      error instanceof errors.ERR_AUTH_CONFIG_INVALID && /\n {4}at /.test(error.stack ?? ''),
  )
  const service = new AuthService({ publicKeysUrl: 'http://127.0.0.1:1/keys' })
  await assert.rejects(
    service.refreshKeys(),
    (error) =>
      error instanceof errors.ERR_AUTH_KEYS_UNAVAILABLE && /\n {4}at /.test(error.stack ?? ''),
  )
  service.close()
})
