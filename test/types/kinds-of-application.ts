import Fastify, { type FastifyBaseLogger } from 'fastify'
import tenantAuth, {
  type Authorization,
  AuthService,
  authorizationOf,
  type ListedRoute,
  signalOf,
} from 'fastify-tenant-auth'
import { expectType } from './expect-type.ts'

// Applications with any server, logger or type provider take the plugin and the service. Prevents a
// guard that some applications can have only with a cast.

const auth = new AuthService()

const secure = Fastify({ http2: true, https: {} })
await secure.register(tenantAuth, { configFile: 'app.ini' })
await auth.install(secure)
secure.get('/:tenant/a', { config: { tenant: 'required' } }, async (request) => {
  expectType(request.tenant).is<string>()
  expectType(authorizationOf(request)).is<Authorization | null>()
  expectType(signalOf(request)).is<AbortSignal>()
})

const plain = Fastify({ http2: true })
await auth.install(plain)
expectType(plain.authService).is<AuthService>()
expectType(auth.routes(plain)).is<ListedRoute[]>()

interface AuditLogger extends FastifyBaseLogger {
  audit(message: string): void
}
declare const loggerInstance: AuditLogger
const logged = Fastify({ loggerInstance })
await logged.register(tenantAuth)
await auth.install(logged)
logged.get('/:tenant/b', { config: { tenant: 'required' } }, async (request) => {
  request.log.audit(request.tenant)
  expectType(authorizationOf(request)).is<Authorization | null>()
})
