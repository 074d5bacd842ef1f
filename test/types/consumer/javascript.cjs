const Fastify = require('fastify')
const { tenantAuth, authorizationOf } = require('fastify-tenant-auth')

// JavaScript: an editor that completes names knows the types.

const app = Fastify()
app.register(tenantAuth, { configFile: 'app.ini', uncovered: 'refuse' })
// @ts-expect-error a misspelt option
app.register(tenantAuth, { configfile: 'app.ini' })

app.get('/:tenant/menu', { config: { tenant: 'required', userInfo: true } }, async (request) => {
  // @ts-expect-error not declared by the route
  request.resources.has('menu:read')
  return [request.tenant.toUpperCase(), request.userInfo.sub, authorizationOf(request)?.expiresAt]
})
