import Fastify from 'fastify'
import tenantAuth, { type AuthOptions, refusalOf } from '../../lib/index.ts'

type Audit = (code: string, user: string | undefined, tenant: string | null) => void

/**
 * An application for its operators: its log keeps no token, refusals are audited, and it tells
 * whether it is ready.
 */
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

  const refused = new Map<string, number>()
  app.addHook('onResponse', async (request) => {
    const code = refusalOf(request)?.error.code
    if (code) refused.set(code, (refused.get(code) ?? 0) + 1)
  })
  // In the text format of Prometheus. Serve it to your own network only.
  app.get('/metrics', { config: { noauth: true } }, async () => {
    const { documents } = app.authService.stats()
    const refusals = [...refused].map(([code, n]) => `auth_refused_total{code="${code}"} ${n}`)
    const ages = documents.map(
      ({ kind, name, age }) =>
        `auth_document_age_seconds{kind="${kind}",name="${name}"} ${age ?? 'NaN'}`,
    )
    return `${[...refusals, ...ages].join('\n')}\n`
  })

  app.get('/ready', { config: { noauth: true } }, async (_request, reply) => {
    const isReady = app.authService.isReady()
    return reply.code(isReady ? 200 : 503).send({ isReady })
  })

  app.get('/:tenant/menu', { config: { tenant: 'required' } }, async () => ['soup'])
  return app
}
