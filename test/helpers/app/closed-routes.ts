import type { FastifyInstance, InjectOptions } from 'fastify'
import tenantAuth from '../../../lib/index.ts'
import { trusting } from './guarded-app.ts'

/** One way to write a route, and a request for it. */
export interface ClosedRoute {
  readonly name: string
  readonly request: InjectOptions
  /** Writes the route. Its handler calls `ran`. Also registers the plugin, if the order matters. */
  write(app: FastifyInstance, ran: () => string): Promise<void>
}

const guard = async (app: FastifyInstance) => {
  await app.register(tenantAuth, trusting())
}

/** Where a route stands, seen from the plugin. */
export const PLACES: readonly ClosedRoute[] = [
  {
    name: 'after the plugin',
    request: { url: '/x' },
    async write(app, ran) {
      await guard(app)
      app.get('/x', async () => ran())
    },
  },
  {
    name: 'before the plugin',
    request: { url: '/x' },
    async write(app, ran) {
      app.get('/x', async () => ran())
      await guard(app)
    },
  },
  {
    name: 'in the tick after a register without await',
    request: { url: '/x' },
    async write(app, ran) {
      app.register(tenantAuth, trusting())
      app.get('/x', async () => ran())
    },
  },
  {
    name: 'in an earlier child',
    request: { url: '/in/x' },
    async write(app, ran) {
      await app.register(async (child) => void child.get('/x', async () => ran()), {
        prefix: '/in',
      })
      await guard(app)
    },
  },
  {
    name: 'in an earlier grandchild without await',
    request: { url: '/x' },
    async write(app, ran) {
      app.register(async (child) => {
        child.register(async (grandchild) => void grandchild.get('/x', async () => ran()))
      })
      app.register(tenantAuth, trusting())
    },
  },
  {
    name: 'in a later child',
    request: { url: '/x' },
    async write(app, ran) {
      app.register(tenantAuth, trusting())
      app.register(async (child) => void child.get('/x', async () => ran()))
    },
  },
  {
    name: 'in a child of a guarded scope',
    request: { url: '/x' },
    async write(app, ran) {
      app.register(async (scope) => {
        await guard(scope)
        scope.register(async (child) => void child.get('/x', async () => ran()))
      })
    },
  },
  {
    name: 'from an after() callback',
    request: { url: '/x' },
    async write(app, ran) {
      app.register(tenantAuth, trusting())
      app.after(() => void app.get('/x', async () => ran()))
    },
  },
  {
    name: 'by an onRoute hook of the application',
    request: { url: '/x/twin' },
    async write(app, ran) {
      app.addHook('onRoute', ({ url }) => {
        if (url === '/x') app.get('/x/twin', { exposeHeadRoute: false }, async () => ran())
      })
      await guard(app)
      app.get('/x', { exposeHeadRoute: false }, async () => 'never')
    },
  },
]
