import { sendCanary } from './canary.ts'
import { clientAuthentications } from './client-authentication.ts'
import type { Exchanges } from './exchanges.ts'
import { IntrospectionEndpoint } from './introspection-endpoint.ts'
import type { IntrospectionRules } from './introspection-options.ts'
import { OpaqueFailure, refusesCredentials } from './opaque-failure.ts'
import { serverMetadata } from './server-metadata.ts'

/**
 * The endpoint that may be sent real tokens: discovered, and proved by a random one, with the first
 * way to prove oneself that it does not refuse.
 *
 * @throws OpaqueFailure
 */
export async function findEndpoint(
  rules: IntrospectionRules,
  exchanges: Exchanges,
): Promise<IntrospectionEndpoint> {
  const server = await serverMetadata(rules, exchanges)
  const methods =
    server.introspection_endpoint_auth_methods_supported ??
    server.token_endpoint_auth_methods_supported
  for (const authentication of clientAuthentications(rules.credentials, methods)) {
    const endpoint = new IntrospectionEndpoint(rules, server, authentication, exchanges)
    if (await isProved(endpoint)) return endpoint
  }
  throw new OpaqueFailure('ERR_INTROSPECTION_CREDENTIALS')
}

/** False where the endpoint refuses the credentials. */
async function isProved(endpoint: IntrospectionEndpoint): Promise<boolean> {
  try {
    await sendCanary((token) => endpoint.ask(token))
    return true
  } catch (error) {
    if (refusesCredentials(error)) return false
    throw error
  }
}
