import Fastify from 'fastify'
import tenantAuth, { type AuthOptions, refusalOf } from '../../lib/index.ts'

type Audit = (code: string, user: string | undefined, tenant: string | null) => void

/** An application for its operators: its log keeps no token, and refusals are audited. */
export async function operatedApp(
  options: AuthOptions,
  stream: { write(line: string): void },
  audit: Audit,
) {
  const app = Fastify({
    logger: {
      stream,
      // Needed where a serializer logs headers. Fastify's own does not.
      redact: ['req.headers.authorization', 'req.headers.cookie'],
      serializers: { req: ({ method, url, headers }) => ({ method, url, headers }) },
    },
  })
  await app.register(tenantAuth, options)

  app.addHook('onResponse', async (request) => {
    const refusal = refusalOf(request) // { error, authorization, tenant } | null
    if (refusal) audit(refusal.error.code, refusal.authorization?.userInfo.sub, refusal.tenant)
  })

  app.get('/:tenant/menu', { config: { tenant: 'required' } }, async () => ['soup'])
  return app
}
