import {
  type AuthorizationServer,
  allowInsecureRequests,
  customFetch,
  discoveryRequest,
  processDiscoveryResponse,
} from 'oauth4webapi'
import { ownProperty } from '../outside/own-property.ts'
import type { Exchanges } from './exchanges.ts'
import type { IntrospectionRules } from './introspection-options.ts'
import { OpaqueFailure } from './opaque-failure.ts'
import { isServerAddress } from './server-address.ts'

/** What is known of the server that answers. */
export interface ServerMetadata extends AuthorizationServer {
  readonly introspection_endpoint: string
}

/**
 * The server that is asked: as configured, or discovered from its issuer (OpenID Connect Discovery
 * §4, RFC 8414 §3). The keys of signed answers are always discovered.
 *
 * @throws OpaqueFailure
 */
export async function serverMetadata(
  { issuer, url, signed }: IntrospectionRules,
  exchanges: Exchanges,
): Promise<ServerMetadata> {
  if (url !== undefined && !signed) return { issuer, introspection_endpoint: url }
  const metadata = await discover(issuer, exchanges)
  const endpoint = url ?? ownProperty(metadata, 'introspection_endpoint')
  const keys = ownProperty(metadata, 'jwks_uri')
  if (!isServerAddress(endpoint)) throw new OpaqueFailure('ERR_INTROSPECTION_METADATA')
  if (signed && !isServerAddress(keys)) throw new OpaqueFailure('ERR_INTROSPECTION_METADATA')
  return { ...metadata, introspection_endpoint: endpoint }
}

async function discover(issuer: string, { fetch }: Exchanges): Promise<AuthorizationServer> {
  const address = new URL(issuer)
  // Which addresses may be asked is checked here already, and what they answer above.
  const options = { [customFetch]: fetch, [allowInsecureRequests]: true }
  let response = await discoveryRequest(address, { ...options, algorithm: 'oidc' })
  if (response.status === 404) {
    response = await discoveryRequest(address, { ...options, algorithm: 'oauth2' })
  }
  try {
    const metadata = await processDiscoveryResponse(address, response)
    // Identical, and not only equal as addresses are.
    if (ownProperty(metadata, 'issuer') === issuer) return metadata
  } catch {
    // Its error holds what the server said.
  }
  throw new OpaqueFailure('ERR_INTROSPECTION_METADATA')
}
