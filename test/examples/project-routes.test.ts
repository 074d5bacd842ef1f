import assert from 'node:assert/strict'
import test from 'node:test'
import Fastify from 'fastify'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import tenantAuth, { authorizationOf } from '../../lib/index.ts'
import { projectRoutes, security } from './project-routes.ts'

test("routes that speak the application's own words are guarded by what these stand for", async (t) => {
  const authority = await createTestAuthority()
  const app = Fastify()
  t.after(() => app.close())
  await app.register(tenantAuth, { ...authority.options, tenantParameter: 'projectId' })
  await app.register(projectRoutes)
  app.get('/health', { config: { security: security.open() } }, async () => 'ok')
  app.get(
    '/me',
    { config: { security: security.account() } },
    async (request) => authorizationOf(request)?.userInfo.sub,
  )
  app.get(
    '/projects/:projectId/flows',
    { config: { security: security.project('flow:read') } },
    async ({ tenant }) => `flows of ${tenant}`,
  )
  assert.throws(() => app.get('/forgotten', async () => 'never'), /\/forgotten has no security/)
  const headers = await authority.headers({ sub: 'dora', resources: { a: ['flow:read'], b: [] } })
  const ask = async (url: string, of: object = headers) => {
    const { statusCode, body } = await app.inject({ url, headers: { ...of } })
    return statusCode === 200 ? body : statusCode
  }
  assert.equal(await ask('/health', {}), 'ok')
  assert.equal(await ask('/me', {}), 401)
  assert.equal(await ask('/me'), 'dora')
  assert.equal(await ask('/projects/a/flows'), 'flows of a')
  assert.equal(await ask('/projects/b/flows'), 403)
  assert.equal(await ask('/projects/c/flows'), 403)
  const [listed] = app.authService
    .routes()
    .filter(({ url }) => url === '/projects/:projectId/flows')
  assert.deepEqual([listed?.tenant, listed?.require], ['path', ['flow:read']])
})
