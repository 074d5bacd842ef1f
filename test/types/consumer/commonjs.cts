import Fastify = require('fastify')
import tenantAuth = require('fastify-tenant-auth')
import testing = require('fastify-tenant-auth/testing')

// CommonJS in TypeScript: `require` of a module gives all its exports, and the plugin is one of
// them.

async function start(): Promise<void> {
  const authority = await testing.createTestAuthority()
  const app = Fastify()
  await app.register(tenantAuth.tenantAuth, authority.options)
  await app.register(tenantAuth.default, authority.options)
  // @ts-expect-error a misspelt option
  await app.register(tenantAuth.tenantAuth, { configfile: 'app.ini' })
  app.get('/:tenant/menu', { config: { tenant: 'required' } }, async (request) => {
    const tenant: string = request.tenant
    return tenant
  })
}

void start()
