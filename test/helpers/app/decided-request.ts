import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { FastifyInstance, FastifyServerOptions } from 'fastify'
import { AuthContext, authContextOf } from '../../../lib/guard/context.ts'
import type { AuthOptions } from '../../../lib/index.ts'
import { guardedApp } from './guarded-app.ts'

/** A request for the tenant `lazy-raccoon`, as the guard of an application has decided it. */
export async function decidedRequest(
  t: TestContext,
  headers: Record<string, string> = {},
  options: AuthOptions = {},
  server: FastifyServerOptions = {},
): Promise<{ readonly app: FastifyInstance; readonly context: AuthContext }> {
  const app = await guardedApp(t, options, server)
  const found: AuthContext[] = []
  app.addHook('onSend', async (request) => {
    const context = authContextOf(request)
    if (context) found.push(context)
  })
  app.get('/:tenant/x', async () => 'x')
  await app.inject({ url: '/lazy-raccoon/x', headers })
  const [context] = found
  assert.ok(context, 'the request was decided')
  return { app, context }
}

/** The same request and its user, not decided yet. */
export function decidedAgain(context: AuthContext, before: AuthContext | null = null): AuthContext {
  const again = new AuthContext(context, context.policy, context.rules, before)
  again.principal = context.principal
  return again
}
