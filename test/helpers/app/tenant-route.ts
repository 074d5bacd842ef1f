import type { TestContext } from 'node:test'
import type { LightMyRequestResponse } from 'fastify'
import { as, guardedApp } from './guarded-app.ts'

const USER = await as({ real: [], ghost: [], constructor: [] })

/**
 * An application with a strictly multitenant route, and a way to get the answers to a user of the
 * tenants `real`, `ghost` and `constructor`.
 */
export async function tenantRoute(
  t: TestContext,
  options: object,
): Promise<(tenant: string) => Promise<LightMyRequestResponse>> {
  const app = await guardedApp(t, options)
  app.get('/:tenant/x', async () => 'x')
  return (tenant) => app.inject({ url: `/${tenant}/x`, headers: USER })
}
