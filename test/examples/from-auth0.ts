import Fastify from 'fastify'
import { fastifyJwtJwks } from 'fastify-jwt-jwks'
import { auth0 } from '../../lib/entrypoints/claims/index.ts'
import tenantAuth, { type AuthOptions, type UserInfo } from '../../lib/index.ts'

export interface Server {
  readonly issuer: string
  readonly audience: string
  readonly publicKeysUrl: string
}

export async function before({ publicKeysUrl: jwksUrl, issuer, audience }: Server) {
  const app = Fastify()

  await app.register(fastifyJwtJwks, { jwksUrl, issuer, audience })

  app.get('/health', async () => 'ok')
  app.get('/menu', { preValidation: app.authenticate }, async (request, reply) => {
    const { sub, org_id: tenant, permissions } = await request.jwtVerify<Claims>()
    if (!permissions.includes('read:menu')) return reply.code(403).send()
    return `the menu of ${tenant} for ${sub}`
  })

  return app
}

interface Claims {
  readonly sub: string
  readonly org_id: string
  readonly permissions: readonly string[]
}

export async function after({ issuer, audience, publicKeysUrl }: Server) {
  const app = Fastify()

  await app.register(tenantAuth, { issuer, audience, publicKeysUrl, mapClaims: auth0() })

  app.get('/health', { config: { noauth: true } }, async () => 'ok')
  app.get(
    '/:tenant/menu',
    { config: { tenant: 'required', userInfo: true, require: 'read:menu' } },
    async ({ tenant, userInfo }) => `the menu of ${tenant} for ${userInfo.sub}`,
  )

  return app
}

const TENANT = 'https://lunch.example.com/tenant'

/** An action at the login has written the tenant into a claim of the application's own. */
export const withoutOrganizations = {
  mapClaims: ({ permissions, ...claims }): UserInfo => {
    const { sub, [TENANT]: tenant } = claims
    if (typeof sub !== 'string' || typeof tenant !== 'string') throw new Error('another token')
    return {
      ...claims,
      sub,
      resources: { [tenant]: Array.isArray(permissions) ? permissions : [] },
    }
  },
} satisfies AuthOptions
