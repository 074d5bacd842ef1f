import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bareApp, guardedApp } from '../helpers/app/guarded-app.ts'
import audit from './audit-plugin.ts'

// test/ecosystem/autoload.test.ts lets @fastify/autoload find the order.

test('a plugin that depends on the guard boots after it, and not without it', async (t) => {
  const app = await guardedApp(t)
  await app.register(audit)
  app.get('/menu', async () => 'soup')
  await app.inject('/menu')
  assert.deepEqual(app.refused, ['ERR_AUTH_TOKEN_MISSING'])
  await assert.rejects(async () => bareApp(t).register(audit), /fastify-tenant-auth.*audit/)
})
