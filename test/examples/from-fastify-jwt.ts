import jwt from '@fastify/jwt'
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify'
import { sharedSecret } from '../../lib/entrypoints/introspection/index.ts'
import tenantAuth, { authorizationOf } from '../../lib/index.ts'

/** What the login writes into a token. */
export interface Account {
  readonly id: string
  readonly tenant: string
  readonly role: string
}

declare module '@fastify/jwt' {
  interface FastifyJWT {
    user: Account
  }
}

type AccountOf = (body: unknown) => Promise<Account | null>

export async function before(secret: string, accountOf: AccountOf) {
  const app = Fastify()

  await app.register(jwt, { secret, sign: { expiresIn: '15m' } })
  app.decorateRequest('tenant', null)

  const authenticate = async (request: FastifyRequest) => {
    const { tenant } = await request.jwtVerify<Account>()
    Object.assign(request, { tenant })
  }
  const admin = async ({ user }: FastifyRequest, reply: FastifyReply) => {
    if (user.role !== 'admin') return reply.code(403).send()
  }

  app.get('/health', async () => 'ok')
  app.post('/login', async ({ body }, reply) => {
    const account = await accountOf(body)
    return account === null ? reply.code(401).send() : app.jwt.sign({ ...account })
  })
  app.get('/menu', { onRequest: authenticate }, async ({ tenant, user }) => {
    return `the menu of ${tenant} for ${user.id}`
  })
  app.delete('/menu', { onRequest: [authenticate, admin] }, async ({ tenant }) => {
    return `no menu of ${tenant}`
  })

  return app
}

/** The same tokens and the same addresses. */
export async function firstDay(secret: string, accountOf: AccountOf) {
  const app = Fastify()

  const issuer = 'https://lunch.example.com'
  const audience = 'lunch'
  const grants = new Map([
    ['guest', ['menu:read']],
    ['admin', ['menu:read', 'menu:delete']],
  ])

  await app.register(jwt, { secret, sign: { expiresIn: '15m' } })
  await app.register(tenantAuth, {
    issuer,
    audience,
    publicKeys: { keys: [] },
    opaqueToken: sharedSecret({ secrets: secret, issuer, audience }),
    // Roles become ids, and `id` becomes `sub`.
    mapClaims: ({ id: sub, tenant, role, ...others }) => {
      if (typeof sub !== 'string' || typeof tenant !== 'string') throw new Error('another token')
      return { ...others, sub, resources: { [tenant]: grants.get(String(role)) ?? [] } }
    },
    // The tenant is that of the token, as before.
    resolveTenant: (_request, user) => [...(user?.tenants ?? [])].at(0) ?? null,
  })

  app.get('/health', { config: { noauth: true } }, async () => 'ok')
  app.post('/login', { config: { noauth: true } }, async ({ body }, reply) => {
    const account = await accountOf(body)
    return account === null ? reply.code(401).send() : app.jwt.sign({ ...account })
  })
  app.get(
    '/menu',
    { config: { tenant: 'required', userInfo: true, require: 'menu:read' } },
    async ({ tenant, userInfo }) => `the menu of ${tenant} for ${userInfo.sub}`,
  )
  app.delete(
    '/menu',
    { config: { tenant: 'required', require: 'menu:delete' } },
    async ({ tenant }) => `no menu of ${tenant}`,
  )

  return app
}

export interface Customer {
  readonly name: string
  readonly plan: string
}

declare module 'fastify' {
  interface FastifyRequest {
    customer: Customer | null
  }
}

/** @param customerOf the row of a tenant */
export async function withCustomer(
  options: Parameters<typeof tenantAuth>[1],
  customerOf: (tenant: string) => Promise<Customer | null>,
) {
  const app = Fastify()
  await app.register(tenantAuth, options)

  app.decorateRequest('customer', null)
  app.addHook('preHandler', async (request) => {
    const tenant = authorizationOf(request)?.tenant ?? null
    request.customer = tenant === null ? null : await customerOf(tenant)
  })

  app.get('/:tenant/plan', async ({ customer }) => customer?.plan ?? 'none')
  return app
}
