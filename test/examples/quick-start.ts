import Fastify from 'fastify'
import tenantAuth from '../../lib/index.ts'

const app = Fastify({ logger: true })

await app.register(tenantAuth, {
  issuer: 'http://localhost:8081',
  audience: 'lunch',
  devMode: process.argv.includes('--dev'),
})

app.get('/:tenant/menu', { config: { tenant: 'required' } }, async (request) => ({
  tenant: request.tenant,
  menu: ['soup', 'bread'],
}))

app.get(
  '/:tenant/suppliers',
  { config: { tenant: 'required', require: 'supplier:read' } },
  async () => ['the farm next door'],
)

await app.listen({ port: Number(process.env['PORT'] ?? 3000) })
