import { subscribe } from 'node:diagnostics_channel'
import type { DecisionEvent } from '../../lib/index.ts'

/** Notes each decision in the span of its request. Call it once for the process. */
export function traceDecisions(): void {
  subscribe('fastify-tenant-auth:decision', (message) => {
    const { request, outcome, code, tenant, sub } = message as DecisionEvent
    request?.opentelemetry().span?.setAttributes({
      'tenant_auth.outcome': outcome,
      ...(code !== null && { 'tenant_auth.code': code }),
      ...(tenant !== null && { 'tenant_auth.tenant': tenant }),
      ...(sub !== null && { 'enduser.id': sub }),
    })
  })
}
