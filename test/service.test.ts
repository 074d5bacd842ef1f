import assert from 'node:assert/strict'
import { describe, mock, type TestContext, test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { createTestAuthority } from '../lib/entrypoints/testing/index.ts'
import tenantAuth, { AuthService, currentAuthorization, errors } from '../lib/index.ts'
import { configError } from './helpers/app/config-error.ts'
import { as, authority, bareApp, trusting } from './helpers/app/guarded-app.ts'
import { logLines } from './helpers/app/log-lines.ts'
import { assertRefused } from './helpers/app/refusals.ts'
import { ageByDate } from './helpers/processes/age-by-date.ts'
import { until } from './helpers/processes/until.ts'
import { askedServer } from './helpers/servers/asked-server.ts'
import { KeyServer } from './helpers/servers/key-server.ts'

/** The real endpoint of an authority, and a service that will ask it. */
async function remote(t: TestContext, options: object = {}) {
  const authority = await createTestAuthority()
  const server = await KeyServer.start(() => authority.publicKeys)
  const service = new AuthService({ publicKeysUrl: server.url, ...options })
  t.after(async () => {
    service.close()
    await server.close()
  })
  return { authority, server, service }
}

async function installed(t: TestContext, service: AuthService): Promise<FastifyInstance> {
  const app = bareApp(t)
  await service.install(app)
  app.get('/', async () => 'ok')
  return app
}

/**
 * Stops the clock. Returns a way to move it and to look at the service, which then finds out what
 * is due.
 */
function stopClock(t: TestContext) {
  mock.timers.enable({ apis: ['Date'], now: 0 })
  ageByDate(t)
  t.after(() => mock.timers.reset())
  return (seconds: number, service: AuthService): boolean => {
    mock.timers.setTime(seconds * 1000)
    return service.isReady()
  }
}

/** Checks that only the test is asking: a request that was under way would have come first. */
async function asksNothing(server: KeyServer): Promise<void> {
  const before = server.fetches
  for (const ours of [1, 2, 3]) {
    await (await fetch(server.url)).arrayBuffer()
    assert.equal(server.fetches, before + ours)
  }
}

describe('a service', () => {
  test('asks no server before it is installed', async (t) => {
    const { server, service } = await remote(t, { tenants: 'http://127.0.0.1:1/' })
    assert.equal(service.isReady(), false)
    assert.equal(server.fetches, 0)
  })
})

describe('a service in two applications', () => {
  test('asks for the keys once, and shares them', async (t) => {
    const { authority, server, service } = await remote(t)
    const apps = [await installed(t, service), await installed(t, service)]
    const headers = await authority.headers()
    for (const app of apps) {
      assert.equal((await app.inject({ url: '/', headers })).statusCode, 200)
    }
    assert.equal(server.fetches, 1)
  })

  test('goes on after the first one closes: new keys are still fetched', async (t) => {
    const { authority, service } = await remote(t, { keysCooldown: 0 })
    const first = await installed(t, service)
    const second = await installed(t, service)
    await first.ready()
    await second.ready()
    await until(() => service.isReady())
    await first.close()
    await authority.rotate()
    const headers = await authority.headers()
    assert.equal((await second.inject({ url: '/', headers })).statusCode, 200)
  })

  for (const [what, options] of [
    ['keys', (url: string) => ({ publicKeysUrl: url, keysMaxAge: 100 })],
    ['tenants', (url: string) => ({ ...authority.options, tenants: url, tenantsMaxAge: 100 })],
  ] as const) {
    test(`ends when the last one closes: ${what} are not fetched again`, async (t) => {
      const server = await KeyServer.start(() =>
        what === 'keys' ? authority.publicKeys : ['lazy-raccoon'],
      )
      t.after(() => server.close())
      const lookAt = stopClock(t)
      const service = new AuthService(options(server.url))
      const first = await installed(t, service)
      const second = await installed(t, service)
      await until(() => service.isReady())
      await first.close()
      lookAt(90, service)
      await until(() => server.fetches === 2)
      await second.close()
      assert.equal(lookAt(180, service), true)
      await asksNothing(server)
    })
  }

  test('resumes when it is installed again', async (t) => {
    const { authority, server, service } = await remote(t, { keysCooldown: 0 })
    const first = await installed(t, service)
    await until(() => service.isReady())
    await first.close()
    await authority.rotate()
    const second = await installed(t, service)
    const headers = await authority.headers()
    assert.equal((await second.inject({ url: '/', headers })).statusCode, 200)
    assert.equal(server.fetches, 2)
  })

  test('a failed installation does not keep it alive', async (t) => {
    const { server, service } = await remote(t, { keysMaxAge: 100 })
    const lookAt = stopClock(t)
    const started = bareApp(t)
    await started.ready()
    await assert.rejects(service.install(started))
    const app = await installed(t, service)
    await until(() => service.isReady())
    await app.close()
    lookAt(90, service)
    await asksNothing(server)
  })
})

describe('an installation', () => {
  for (const [name, options] of [
    ['the key server hangs', (url: string) => ({ publicKeysUrl: url })],
    ['the tenants server hangs', (url: string) => ({ ...authority.options, tenants: url })],
  ] as const) {
    test(`is not delayed if ${name}, nor is the end`, { timeout: 60_000 }, async (t) => {
      const server = await askedServer(() => {})
      const service = new AuthService({
        ...options(server.url),
        // A fetch that waits for the server may wait for weeks.
        keysTimeout: 2_147_483,
        tenantsTimeout: 2_147_483,
      })
      const app = bareApp(t)
      await service.install(app)
      await app.ready()
      await until(() => server.count === 1)
      assert.equal(service.isReady(), false)
      await app.close()
    })
  }

  test('does not fail if no server answers; requests and the log show it', async (t) => {
    const { url, close } = await askedServer(() => {})
    await close()
    const log = logLines()
    const app = bareApp(t, { logger: log.logger })
    await app.register(tenantAuth, { publicKeysUrl: url, tenants: url })
    app.get('/', async () => 'ok')
    await app.ready()
    assertRefused(await app.inject({ url: '/', headers: await as() }), 'ERR_AUTH_KEYS_UNAVAILABLE')
    for (const what of ['keys', 'tenants']) {
      const failed = () => log.lines(`tenant auth: ${what} cannot be fetched`)
      await until(() => failed().length > 0)
      assert.equal(failed()[0]?.level, 40)
      assert.equal(failed()[0]?.['reason'], 'no answer (ECONNREFUSED)')
    }
  })

  test('logs each warning once', async (t) => {
    const log = logLines()
    const app = bareApp(t, { logger: log.logger })
    await app.register(tenantAuth, {
      publicKeys: authority.publicKeys,
      audience: authority.audience,
    })
    await app.ready()
    assert.deepEqual(log.messages(40), [
      'tenant auth: issuer is not configured: a token of any issuer with these keys is accepted',
    ])
  })
})

describe('isReady', () => {
  test('is true once the keys of code are imported', async () => {
    const service = new AuthService(trusting())
    await until(() => service.isReady())
  })

  test('waits for keys and for the tenant list', async (t) => {
    const tenants = await askedServer((_request, response) => {
      if (tenants.count > 1) response.end('["lazy-raccoon"]')
      else response.writeHead(500).end()
    })
    const { service, server } = await remote(t, { tenants: tenants.url, keysRetry: 0.02 })
    await server.fail('status 500')
    await installed(t, service)
    await until(() => server.fetches > 0 && tenants.count > 1)
    assert.equal(service.isReady(), false)
    await server.fail(null)
    await until(() => service.isReady())
  })

  test('is false while only the tenant list is missing', async (t) => {
    const hanging = await askedServer(() => {})
    const { service, server } = await remote(t, { tenants: hanging.url })
    await installed(t, service)
    await service.refreshKeys()
    assert.equal(server.fetches > 0, true)
    assert.equal(service.isReady(), false)
  })
})

describe('stats', () => {
  test('lists each document by its kind and name, and fetches none', async (t) => {
    const server = await KeyServer.start(() => authority.publicKeys)
    const tenants = await askedServer((_request, response) => void response.end('["acme"]'))
    t.after(() => server.close())
    const { issuer, audience } = authority
    const options = { issuer, audience, publicKeysUrl: server.url, tenants: tenants.url }
    const service = new AuthService(options)
    const none = { state: 'none', age: null, failure: null }
    assert.deepEqual(service.stats().documents, [
      { kind: 'keys', name: 'authority.test', ...none },
      { kind: 'tenants', name: 'tenants', ...none },
    ])
    await service.install(bareApp(t))
    await until(() => service.isReady())
    const [keys, list] = service.stats().documents
    assert.deepEqual([keys?.state, list?.state], ['fresh', 'fresh'])
    assert.equal(Number(keys?.age) < 60, true, 'in seconds')
    assert.equal(server.fetches, 1)
  })

  test('has no documents in dev mode, and there is nothing to forget', () => {
    const service = new AuthService({ devMode: true })
    service.forget()
    assert.deepEqual(service.stats().documents, [])
  })
})

describe('actAs', () => {
  const JOB = { sub: 'job:bills', tenant: 'acme', resources: ['order:read'] }
  const tenant = () => currentAuthorization()?.tenant

  test('runs a job without any application', async () => {
    const service = new AuthService(trusting({ asyncContext: true, tenants: ['acme'] }))
    assert.equal(await service.actAs(JOB, tenant), 'acme')
    const unknown = service.actAs({ ...JOB, tenant: 'zoo' }, tenant)
    await assert.rejects(unknown, errors.ERR_AUTH_TENANT_UNKNOWN)
  })

  test('asks a list at a URL, which must be there', async (t) => {
    const tenants = await askedServer((_request, response) => void response.end('["acme"]'))
    const service = new AuthService(trusting({ asyncContext: true, tenants: tenants.url }))
    await assert.rejects(service.actAs(JOB, tenant), errors.ERR_AUTH_TENANTS_UNAVAILABLE)
    await installed(t, service)
    assert.equal(await service.actAs(JOB, tenant), 'acme')
  })

  test('ends with the service while the application is asked for the tenant', async (t) => {
    const tenants = () => new Promise<boolean>(() => {})
    const service = new AuthService(trusting({ asyncContext: true, tenants, tenantsTimeout: 30 }))
    const app = await installed(t, service)
    const job = assert.rejects(service.actAs(JOB, tenant), errors.ERR_AUTH_TENANTS_UNAVAILABLE)
    await app.close()
    await job
  })

  test('grants what it is given: resourcesOf is not asked, in dev mode neither', async () => {
    const resourcesOf = () => assert.fail('resourcesOf was asked')
    for (const options of [trusting({ resourcesOf }), { devMode: true, resourcesOf }]) {
      const service = new AuthService({ ...options, asyncContext: true })
      const held = await service.actAs(JOB, () => [...(currentAuthorization()?.resources ?? [])])
      assert.deepEqual(held, JOB.resources)
    }
  })

  test('within a request has its own authorization, and then the request has its own', async (t) => {
    const service = new AuthService(trusting({ asyncContext: true }))
    const app = bareApp(t)
    await service.install(app)
    app.get('/:tenant/x', async () => [await service.actAs(JOB, tenant), tenant()])
    const headers = await as({ 'lazy-raccoon': [] })
    const answer = await app.inject({ url: '/lazy-raccoon/x', headers })
    assert.deepEqual(answer.json(), ['acme', 'lazy-raccoon'])
  })
})

describe('a second guard', () => {
  const guard = (app: FastifyInstance) => app.register(tenantAuth, trusting())
  const shared = new AuthService(trusting())
  const refused = configError(
    'expected one guard in a scope and below it, found a second (code): register the plugin once',
  )

  const trees: Record<string, (app: FastifyInstance) => PromiseLike<unknown>> = {
    'in the same scope': async (app) => {
      await guard(app)
      await guard(app)
    },
    'by the same service': async (app) => {
      await shared.install(app)
      await shared.install(app)
    },
    'by the plugin and a service': async (app) => {
      await guard(app)
      await new AuthService(trusting()).install(app)
    },
    'below the first': async (app) => {
      await guard(app)
      await app.register(async (scope) => void (await guard(scope)))
    },
    'far below the first': async (app) => {
      await guard(app)
      await app.register(async (scope) => {
        await scope.register(async (below) => void (await guard(below)))
      })
    },
    'above the first': async (app) => {
      await app.register(async (scope) => void (await guard(scope)))
      await guard(app)
    },
    'above the first, written before it': async (app) => {
      app.register(async (scope) => void (await guard(scope)))
      app.register(tenantAuth, trusting())
      await app.ready()
    },
  }
  for (const [where, build] of Object.entries(trees)) {
    test(`${where} stops the boot`, async (t) => {
      const app = bareApp(t)
      await assert.rejects(async () => {
        await build(app)
        await app.ready()
      }, refused)
    })
  }

  test('is independent if it stands beside the first', async (t) => {
    const other = await createTestAuthority()
    const app = bareApp(t, { logger: { level: 'silent' } })
    for (const [prefix, options] of [
      ['/a', trusting()],
      ['/b', other.options],
    ] as const) {
      app.register(
        async (scope) => {
          await scope.register(tenantAuth, options)
          scope.get('/', async () => 'ok')
        },
        { prefix },
      )
    }
    await app.ready()
    const status = async (url: string, headers: { authorization: string }) =>
      (await app.inject({ url, headers })).statusCode
    assert.equal(await status('/a', await as()), 200)
    assert.equal(await status('/b', await as()), 401)
    assert.equal(await status('/a', await other.headers()), 401)
    assert.equal(await status('/b', await other.headers()), 200)
  })

  test('of the same service beside the first closes with the application', async (t) => {
    const { server, service } = await remote(t)
    const app = bareApp(t, { logger: { level: 'silent' } })
    for (const prefix of ['/a', '/b']) {
      app.register(async (scope) => service.install(scope), { prefix })
    }
    await app.ready()
    await until(() => service.isReady())
    await app.close()
    assert.deepEqual(service.routes(), [])
    assert.equal(server.fetches, 1)
  })
})
