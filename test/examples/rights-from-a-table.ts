import type { FastifyInstance } from 'fastify'
import tenantAuth, { type AuthOptions, type Resources, type TokenUser } from '../../lib/index.ts'

/** In earnest a table of a database, with a key of issuer and sub. */
export interface Memberships {
  find(user: TokenUser): Promise<Resources | undefined>
  remove(user: TokenUser, tenant: string): Promise<void>
}

export async function useMemberships(
  app: FastifyInstance,
  members: Memberships,
  options: AuthOptions,
): Promise<void> {
  await app.register(tenantAuth, {
    ...options,
    resourcesOf: async (user) => (await members.find(user)) ?? null,
  })
}

export async function dismiss(
  app: FastifyInstance,
  members: Memberships,
  user: { issuer: string; sub: string },
  tenant: string,
): Promise<void> {
  await members.remove(user, tenant)
  app.authService.forget(user)
}
