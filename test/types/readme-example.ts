import Fastify from 'fastify'
import tenantAuth from 'fastify-tenant-auth'
import { expectType } from './expect-type.ts'

// The first code that a newcomer copies: it compiles as it is, and every comment in it is true.

declare function menuOf(tenant: string): Promise<string[]>

const app = Fastify({ logger: true })
await app.register(tenantAuth, { configFile: 'app.ini' })

app.get('/health', { config: { noauth: true } }, async () => 'ok')

app.get(
  '/:tenant/todays-menu',
  { config: { tenant: 'required', require: ['menu:read'] } },
  async (request) => menuOf(request.tenant),
)

app.get(
  '/orders',
  { config: { tenant: true, userInfo: true, resources: true } },
  async (request) => {
    const order = {
      tenant: request.tenant,
      user: request.userInfo.preferred_username,
      mayCancel: request.resources.has('order:cancel'),
    }
    expectType(order).is<{ tenant: string | null; user: string | undefined; mayCancel: boolean }>()
    return order
  },
)
