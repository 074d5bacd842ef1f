import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { fastifyRequestContext, requestContext } from '@fastify/request-context'
import { authorizationOf } from '../../lib/index.ts'
import { beside, SIDES } from '../helpers/app/beside.ts'

declare module '@fastify/request-context' {
  interface RequestContextData {
    tenant: string | null
  }
}

const USER = { sub: 'alice', resources: { 'lazy-raccoon': [], 'busy-badger': [] } }

/** Code far from any request, such as a repository or a logger, asks this. */
async function tenantOfThisRequest(): Promise<string | null | undefined> {
  await setImmediate()
  return requestContext.get('tenant')
}

for (const side of SIDES) {
  for (const kind of ['at once', 'late']) {
    test(`With @fastify/request-context ${side} the guard, which decides ${kind}, the tenant is known everywhere`, async (t) => {
      const { app, authority } = await beside(
        t,
        side,
        (app) => app.register(fastifyRequestContext),
        {
          tenants: async () => (kind === 'late' ? setImmediate(true) : true),
          tenantsMaxAge: 0,
        },
      )
      app.addHook('onRequest', async (request) => {
        request.requestContext.set('tenant', authorizationOf(request)?.tenant ?? null)
      })
      app.get('/:tenant/menus', tenantOfThisRequest)
      const headers = await authority.headers(USER)
      const tenants = ['lazy-raccoon', 'busy-badger', 'lazy-raccoon']
      const answers = await Promise.all(
        tenants.map((tenant) => app.inject({ url: `/${tenant}/menus`, headers })),
      )
      const found = answers.map(({ body }) => body)
      assert.deepEqual(found, tenants)
    })
  }
}
