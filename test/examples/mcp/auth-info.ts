import type { AuthInfo } from '@modelcontextprotocol/server'
import type { FastifyRequest } from 'fastify'
import { authorizationOf } from '../../../lib/index.ts'

/** The rights that tools ask for. */
export const SCOPES = ['menu:read', 'menu:edit']

/**
 * Who asks, in the form of the MCP SDK, for the request of a route with a tenant. The token stays
 * here: a tool must not send it on.
 *
 * @param origin of the server, as its clients know it
 */
export function createAuthInfoOf(origin: string) {
  return function authInfoOf(request: FastifyRequest): AuthInfo {
    const authorization = authorizationOf(request)
    if (authorization === null || authorization.tenant === null) throw new Error('not guarded')
    const { userInfo, tenant, expiresAt } = authorization
    return {
      token: '',
      clientId: String(userInfo['client_id'] ?? userInfo['azp'] ?? userInfo.sub),
      // Implied rights and those of superusers count, too.
      scopes: SCOPES.filter((scope) => authorization.has(scope)),
      expiresAt: Math.floor(expiresAt.getTime() / 1000),
      // From it the SDK makes the address of the document that a challenge names.
      resource: new URL(`${origin}/${encodeURIComponent(tenant)}/mcp`),
      extra: { tenant },
    }
  }
}
