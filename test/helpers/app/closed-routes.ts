import type { FastifyInstance, InjectOptions, RouteOptions } from 'fastify'
import tenantAuth from '../../../lib/index.ts'
import { trusting } from './guarded-app.ts'

/** One way to write a route, and a request for it. */
export interface ClosedRoute {
  readonly name: string
  readonly request: InjectOptions
  /** Writes the route with a handler. Also registers the plugin, if the order matters. */
  readonly write: (app: FastifyInstance, handler: () => Promise<string>) => Promise<void>
}

const guard = async (app: FastifyInstance) => {
  await app.register(tenantAuth, trusting())
}

const placed = (name: string, url: string, write: ClosedRoute['write']): ClosedRoute => ({
  name,
  request: { url },
  write,
})

/** Where a route stands, seen from the plugin. */
export const PLACES: readonly ClosedRoute[] = [
  placed('after the plugin', '/x', async (app, handler) => {
    await guard(app)
    app.get('/x', handler)
  }),
  placed('before the plugin', '/x', async (app, handler) => {
    app.get('/x', handler)
    await guard(app)
  }),
  placed('in the tick after a register without await', '/x', async (app, handler) => {
    app.register(tenantAuth, trusting())
    app.get('/x', handler)
  }),
  placed('in an earlier child', '/in/x', async (app, handler) => {
    await app.register(async (child) => void child.get('/x', handler), { prefix: '/in' })
    await guard(app)
  }),
  placed('in an earlier grandchild without await', '/x', async (app, handler) => {
    app.register(async (child) => {
      child.register(async (grandchild) => void grandchild.get('/x', handler))
    })
    app.register(tenantAuth, trusting())
  }),
  placed('in a later child', '/x', async (app, handler) => {
    app.register(tenantAuth, trusting())
    app.register(async (child) => void child.get('/x', handler))
  }),
  placed('in a child of a guarded scope', '/x', async (app, handler) => {
    app.register(async (scope) => {
      await guard(scope)
      scope.register(async (child) => void child.get('/x', handler))
    })
  }),
  placed('from an after() callback', '/x', async (app, handler) => {
    app.register(tenantAuth, trusting())
    app.after(() => void app.get('/x', handler))
  }),
  placed('by an onRoute hook of the application', '/x/twin', async (app, handler) => {
    app.addHook('onRoute', ({ url }) => {
      if (url === '/x') app.get('/x/twin', { exposeHeadRoute: false }, handler)
    })
    await guard(app)
    app.get('/x', { exposeHeadRoute: false }, async () => 'never')
  }),
]

type Shape = Omit<RouteOptions, 'handler'> & { readonly prefix?: string }

/** A shape of route, for a path before the plugin and a path after it. */
function shaped(name: string, { prefix, ...shape }: Shape, request: ClosedRoute['request']) {
  return (['before', 'after'] as const).map(
    (when): ClosedRoute => ({
      name: `${name}, ${when} the plugin`,
      request,
      async write(app, handler) {
        if (shape.method === 'PROPFIND') app.addHttpMethod('PROPFIND')
        if (when === 'after') await app.register(tenantAuth, trusting())
        const write = async (scope: FastifyInstance) => void scope.route({ ...shape, handler })
        await app.register(write, prefix === undefined ? {} : { prefix })
        if (when === 'before') await app.register(tenantAuth, trusting())
      },
    }),
  )
}

const at = (url: string, more: Partial<Shape> = {}): Shape => ({ method: 'GET', url, ...more })

/** Every kind of route that Fastify has. */
export const SHAPES: readonly ClosedRoute[] = [
  ...shaped('of a HEAD twin', at('/x'), { method: 'HEAD', url: '/x' }),
  ...shaped('of an explicit HEAD', at('/x', { method: 'HEAD' }), { method: 'HEAD', url: '/x' }),
  ...shaped('of several methods', at('/x', { method: ['PUT', 'PATCH'] }), {
    method: 'PATCH',
    url: '/x',
  }),
  ...shaped('of a custom method', at('/x', { method: 'PROPFIND' }), {
    method: 'PROPFIND',
    url: '/x',
  }),
  ...shaped("of a prefixed '/'", at('/', { prefix: '/in' }), { url: '/in' }),
  ...shaped("of a prefixed '/', with its slash", at('/', { prefix: '/in' }), { url: '/in/' }),
  ...shaped("of a prefixed '/', HEAD, with its slash", at('/', { prefix: '/in' }), {
    method: 'HEAD',
    url: '/in/',
  }),
  ...shaped(
    "of a prefixed '/' that is 'slash'",
    at('/', { prefix: '/in', prefixTrailingSlash: 'slash' }),
    { url: '/in/' },
  ),
  ...shaped(
    "of a prefixed '/' that is 'no-slash'",
    at('/', { prefix: '/in', prefixTrailingSlash: 'no-slash' }),
    { url: '/in' },
  ),
  ...shaped("of a prefix that ends in '/'", at('/x', { prefix: '/in/' }), { url: '/in/x' }),
  ...shaped('of a wildcard', at('/files/*'), { url: '/files/a/b' }),
  ...shaped('of the wildcard of all', at('*'), { url: '/whatever' }),
  ...shaped('of a host', at('/x', { constraints: { host: 'admin.test' } }), {
    url: '/x',
    headers: { host: 'admin.test' },
  }),
  ...shaped('of a version', at('/x', { constraints: { version: '1.2.0' } }), {
    url: '/x',
    headers: { 'accept-version': '1.x' },
  }),
  ...shaped('of a regular expression', at('/:file(^\\d+).png'), { url: '/12.png' }),
  ...shaped('of an optional parameter', at('/x/:id?'), { url: '/x' }),
  ...shaped('of several parameters', at('/near/:lat-:lng'), { url: '/near/1-2' }),
]
