import type { TestContext } from 'node:test'
import Fastify, { type FastifyInstance } from 'fastify'
import { createTestAuthority } from '../../../lib/entrypoints/testing/index.ts'
import tenantAuth, { type AuthOptions } from '../../../lib/index.ts'

/** A neighbour may be registered on either side of the guard. */
export const SIDES = ['before', 'after'] as const

export type Side = (typeof SIDES)[number]

/** A user who may act for one tenant, and may read its menu. */
export const ALICE = { sub: 'alice', resources: { 'lazy-raccoon': ['menu:read'] } }

/**
 * A guarded application with a neighbour on one side of the guard, the authority of its users, and
 * its warnings. It is closed with its test.
 */
export async function beside(
  t: TestContext,
  side: Side,
  registerNeighbour: (app: FastifyInstance) => PromiseLike<unknown>,
  options: AuthOptions = {},
) {
  const authority = await createTestAuthority()
  const warnings: string[] = []
  const stream = { write: (line: string) => void warnings.push(String(JSON.parse(line).msg)) }
  const app = Fastify({ logger: { level: 'warn', stream }, forceCloseConnections: true })
  t.after(() => app.close())
  if (side === 'before') await registerNeighbour(app)
  await app.register(tenantAuth, { ...authority.options, ...options })
  if (side === 'after') await registerNeighbour(app)
  return { app, authority, warnings }
}
