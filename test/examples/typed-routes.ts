import type { FastifyInstance, FastifyRequest } from 'fastify'
import { authorizationOf, type GuardedRequest } from '../../lib/index.ts'

interface NewOrder {
  readonly dish: string
}

export function addTypedRoutes(app: FastifyInstance): void {
  // The types come from the route's config.
  app.get('/:tenant/orders', { config: { tenant: 'required' } }, async (request) => {
    const tenant: string = request.tenant
    const nothing: undefined = request.userInfo // not declared
    return { tenant, nothing }
  })

  // Explicit generics hide the config, so give its type as the second one.
  app.post<{ Body: NewOrder }, { tenant: 'required' }>(
    '/:tenant/orders',
    { config: { tenant: 'required' } },
    async (request) => {
      const tenant: string = request.tenant
      return { tenant, dish: request.body.dish }
    },
  )

  // A handler in another file says what it needs.
  app.get('/:tenant/dishes', { config: { tenant: 'required' } }, dishes)

  app.get('/plate', { config: { tenant: 'optional', userInfo: true } }, async (request) =>
    labelOf(request),
  )
}

async function dishes(request: GuardedRequest<{ tenant: 'required' }>) {
  const tenant: string = request.tenant
  return { dishesOf: tenant }
}

// A request of any route has the union of all types.
function labelOf(request: FastifyRequest): string {
  const tenant: string | null | undefined = request.tenant
  const user = authorizationOf(request)?.userInfo.sub ?? 'nobody'
  return `${user} of ${tenant ?? 'no tenant'}`
}
