import assert from 'node:assert/strict'
import { test } from 'node:test'
import Fastify from 'fastify'

// The application is made before the package is loaded, so all imports of the package stand below.
const app = Fastify()
const { auditedScope } = await import('../../lib/guard/audited-scope.ts')
const { installedGuards } = await import('../../lib/guard/scopes.ts')
const { default: tenantAuth } = await import('../../lib/index.ts')
const { trusting } = await import('../helpers/app/guarded-app.ts')

test('the routes of an application that was made before cannot be known', async (t) => {
  t.after(() => app.close())
  await app.register(tenantAuth, trusting())
  app.get('/x', async () => 'x')
  await app.ready()
  const [guard] = installedGuards(app)
  assert.ok(guard, 'the application is guarded')
  const { application, early } = auditedScope(guard.register, { tenantParameter: 'tenant' })
  assert.deepEqual([application, early], [undefined, undefined])
})
