import '../../../../lib/entrypoints/cli/observe/preload.ts'
import { channel } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import Fastify, { type FastifyInstance } from 'fastify'
import { createTestAuthority } from '../../../../lib/entrypoints/testing/index.ts'
import tenantAuth, { AuthService } from '../../../../lib/index.ts'

/** Keeps the process alive, as a pool of connections does. */
const stay = (): void => void setInterval(() => {}, 1000)

function guarded(url = '/menu'): FastifyInstance {
  const app = Fastify()
  app.register(tenantAuth, { devMode: true })
  app.register(async (scope) => {
    scope.get(url, async () => url)
  })
  return app
}

function broken(): FastifyInstance {
  const app = guarded()
  app.register(async () => {
    throw new Error('no database')
  })
  return app
}

const say = (...words: unknown[]): void => console.log(JSON.stringify(words))
const sayError = (error: unknown): void => say(error instanceof Error ? error.message : error)

/** Small programs, by their names. */
const PROGRAMS: Readonly<Record<string, () => unknown>> = {
  promise: async () => {
    stay()
    const app = guarded()
    say(app.server.address())
    say(await app.listen({ port: 8080 }), app.server.address())
    say(await app.listen({ port: 9090 }))
  },
  callback: () => {
    const app = guarded()
    say(app.listen({ host: '0.0.0.0' }, (error, address) => say(error, address)) ?? 'nothing')
  },
  server: async () => {
    const app = guarded()
    await app.ready()
    app.server.on('listening', () => say('listening'))
    app.server.listen(8080, () => say('called back', app.server.address()))
  },
  'server without callback': async () => {
    const app = guarded()
    await app.ready()
    say(app.server.listen() === app.server)
  },
  path: async () => {
    const app = guarded()
    say(await app.listen({ path: '/run/app.sock' }), app.server.address())
  },
  'server with a path': async () => {
    const app = guarded()
    await app.ready()
    app.server.listen('/run/app.sock', () => say(app.server.address()))
  },
  'closed at once': async () => {
    const app = guarded()
    say(app.server.listening)
    await app.listen()
    say(app.server.listening)
    await app.close()
    say(app.server.listening, app.server.address())
  },
  'waiting for a signal': async () => {
    const app = guarded()
    process.once('beforeExit', () => app.close().then(() => say('closed')))
    await app.listen()
    await once(process, 'SIGTERM')
  },
  'exit code for later': async () => {
    process.exitCode = 3
    await guarded().listen()
  },
  'broken promise': () => broken().listen().catch(sayError),
  'broken callback': () => broken().listen({ port: 0 }, sayError),
  'broken server': () => {
    const { server } = broken()
    server.on('error', sayError).listen(0)
  },
  'two in turn': async () => {
    stay()
    await guarded('/public').listen()
    await guarded('/admin').listen()
  },
  scopes: async () => {
    const app = Fastify()
    for (const url of ['/one', '/two']) {
      app.register(async (scope) => {
        await scope.register(tenantAuth, { devMode: true, uncovered: 'ignore' })
        scope.get(url, async () => url)
      })
    }
    app.get('/uncovered', async () => 'open')
    await app.listen()
  },
  'implied ids': async () => {
    const app = Fastify()
    for (const ids of ['order:read', 'menu:read', 'order:read']) {
      app.register(async (scope) => {
        const implies = { 'menu:edit': [ids] }
        await scope.register(tenantAuth, { devMode: true, uncovered: 'ignore', implies })
      })
    }
    await app.listen()
    await guarded('/none').listen()
  },
  versions: async () => {
    const app = Fastify({ exposeHeadRoutes: false })
    app.get('/orders', { constraints: { host: 'early.example' } }, async () => 'early')
    await app.register(tenantAuth, { devMode: true })
    app.get('/orders', { constraints: { version: '1.0.0', host: /^a/i } }, async () => 'new')
    app.get('/orders', async () => 'old')
    await app.listen()
  },
  unguarded: () => Fastify().listen(),
  'outside of the guard': async () => {
    const { options } = await createTestAuthority()
    const app = Fastify()
    await app.register(async (scope) => {
      await scope.register(tenantAuth, { ...options, uncovered: 'ignore' })
      scope.get('/inside', async () => 'guarded')
    })
    app.register(async (scope) => scope.get('/', async () => 'open'), { prefix: '/outside' })
    await app.listen()
    const metrics = Fastify()
    metrics.get('/metrics', async () => 'open')
    await metrics.listen()
    const silent = Fastify()
    silent.get('/silent', async () => 'nobody hears it')
    await silent.ready()
  },
  'one service': async () => {
    const { options } = await createTestAuthority()
    const service = new AuthService(options)
    for (const url of ['/public', '/admin']) {
      const app = Fastify()
      app.get(`${url}/early`, async () => 'guarded too')
      await service.install(app)
      app.get(url, async () => url)
      await app.listen()
    }
  },
  late: async () => {
    stay()
    await guarded('/public').listen()
    // Longer than a process stays quiet before it ends.
    await delay(1500)
    await guarded('/admin').listen()
  },
  'one unguarded': async () => {
    stay()
    await Fastify().listen()
    await Fastify().ready()
    const closed = guarded('/closed')
    await closed.close()
    await guarded().listen()
  },
  silent: async () => {
    await guarded().ready()
    await guarded().listen()
  },
  'a service that shows nothing': async () => {
    const app = Fastify()
    app.decorate('authService', { routes: () => [] } as never)
    await app.listen()
  },
  'a guard that lists nothing': async () => {
    const app = guarded()
    await app.ready()
    app.authService.routes = () => []
    await app.listen()
  },
  'a guard without routes': async () => {
    const app = Fastify()
    app.register(tenantAuth, { devMode: true })
    await app.listen()
  },
  'a decoration of the same name': async () => {
    const app = Fastify()
    app.decorate('authService', { routes: 'none' } as never)
    await app.listen()
  },
  'other exit code': async () => {
    await guarded().listen()
    process.exit(3)
  },
  'no fastify': () => channel('fastify.initialization').publish('nonsense'),
}

await PROGRAMS[process.argv[2] ?? '']?.()
