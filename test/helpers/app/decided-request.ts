import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { FastifyInstance, FastifyServerOptions } from 'fastify'
import { Asked } from '../../../lib/guard/asked.ts'
import { askedOf } from '../../../lib/guard/decision.ts'
import type { AuthOptions } from '../../../lib/index.ts'
import { guardedApp } from './guarded-app.ts'

/** A request for the tenant `lazy-raccoon`, as the guard of an application has decided it. */
export async function decidedRequest(
  t: TestContext,
  headers: Record<string, string> = {},
  options: AuthOptions = {},
  server: FastifyServerOptions = {},
): Promise<{ readonly app: FastifyInstance; readonly asked: Asked }> {
  const app = await guardedApp(t, options, server)
  const found: Asked[] = []
  app.addHook('onSend', async (request) => {
    const asked = askedOf(request)
    if (asked !== null) found.push(asked)
  })
  app.get('/:tenant/x', async () => 'x')
  await app.inject({ url: '/lazy-raccoon/x', headers })
  const [asked] = found
  assert.ok(asked, 'the request was decided')
  return { app, asked }
}

/** The same request and its user, not decided yet. */
export function askedAgain(asked: Asked, before: Asked | null = null): Asked {
  const again = new Asked(asked, asked.policy, asked.rules, before)
  again.principal = asked.principal
  return again
}
