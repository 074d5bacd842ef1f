import type { TestContext } from 'node:test'
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import { createTestAuthority, type TestUserInfo } from '../../../lib/entrypoints/testing/index.ts'
import tenantAuth, { type AuthOptions } from '../../../lib/index.ts'

/** One authority for all tests of a file. Its keys are real, and are made once. */
export const authority = await createTestAuthority()

/** A user of two tenants. */
export const RIGHTS = {
  '*': ['menu:read'],
  'lazy-raccoon': ['order:read', 'order:cancel'],
  'quiet-otter': [],
}

/** Headers of a request of a user with these rights. */
export function as(
  resources: Record<string, string[]> = RIGHTS,
  more: TestUserInfo = {},
): Promise<{ authorization: string }> {
  return authority.headers({ ...more, resources })
}

/** An application that is closed with its test, without the plugin. */
export function bareApp(t: TestContext, options: FastifyServerOptions = {}): FastifyInstance {
  const app = Fastify(options)
  t.after(() => app.close())
  return app
}

/**
 * Options with which the plugin trusts the authority: by its keys, or by the address in the given
 * options.
 */
export function trusting(options: AuthOptions = {}): AuthOptions {
  const { publicKeys, ...claims } = authority.options
  return { ...(options.publicKeysUrl === undefined && { publicKeys }), ...claims, ...options }
}

/** An application that is closed with its test, and guarded from its root on. */
export async function guardedApp(
  t: TestContext,
  options: AuthOptions = {},
  server: FastifyServerOptions = {},
): Promise<FastifyInstance> {
  const app = bareApp(t, server)
  await app.register(tenantAuth, options.devMode ? options : trusting(options))
  return app
}

/** Options as JavaScript gives them: their names and types are not checked. */
export function untyped(options: object): AuthOptions {
  return { ...options }
}
