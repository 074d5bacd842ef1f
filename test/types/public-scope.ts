import fastifySwaggerUi from '@fastify/swagger-ui'
import type { FastifyPluginAsync, FastifyPluginCallback } from 'fastify'
import { publicScope } from 'fastify-tenant-auth'
import { app } from './application.ts'
import { expectType } from './expect-type.ts'

interface GreetingOptions {
  greeting: string
}
const greet: FastifyPluginAsync<GreetingOptions> = async (scope, { greeting }) => {
  scope.get('/', async () => greeting)
}
const greetByCallback: FastifyPluginCallback<GreetingOptions> = (scope, { greeting }, done) => {
  scope.get('/', async () => greeting)
  done()
}

// The wrapped plugin is registered like the plain one: with its options, and with those of
// register.
await app.register(publicScope(fastifySwaggerUi))
await app.register(publicScope(fastifySwaggerUi), { routePrefix: '/docs' })
await app.register(publicScope(greet), { greeting: 'hello', prefix: '/greet' })
await app.register(publicScope(greetByCallback), { greeting: 'hello', logLevel: 'warn' })
expectType(publicScope(greet)).is<FastifyPluginAsync<GreetingOptions>>()
expectType(publicScope(greetByCallback)).is<FastifyPluginAsync<GreetingOptions>>()

// @ts-expect-error an option that the plugin needs
await app.register(publicScope(greet))
// @ts-expect-error an empty object is not enough either
await app.register(publicScope(greet), {})
// @ts-expect-error an option of another type
await app.register(publicScope(greetByCallback), { greeting: 3 })
// @ts-expect-error a misspelt option
await app.register(publicScope(fastifySwaggerUi), { routeprefix: '/docs' })
// @ts-expect-error a plugin is wrapped, not an application
publicScope(app)

// Written in place, as with `app.register(async (scope) => …)`.
await app.register(
  publicScope(async (scope) => {
    scope.get('/status', async () => 'ok')
  }),
)
await app.register(
  publicScope((scope, _options, done) => {
    scope.get('/version', async () => 'ok')
    done()
  }),
  { prefix: '/about' },
)
