import type { AuthorizationServer } from 'oauth4webapi'
import { assertMetadataOf, metadataBy } from '../../identity/jwks/discovery.ts'
import { badStatus } from '../../platform/http/failure.ts'
import { isThrown } from '../../platform/runtime/error.ts'
import { ownProperty } from '../../platform/runtime/own-property.ts'
import type { Exchanges } from './exchanges.ts'
import { OpaqueFailure } from './introspection-error.ts'
import { type IntrospectionRules, isServerAddress } from './introspection-options.ts'

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
  const read = async (url: string): Promise<unknown> => {
    const response = await fetch(url, { method: 'GET', headers: { accept: 'application/json' } })
    if (response.status !== 200) throw badStatus(response.status)
    return response.json()
  }
  try {
    const metadata = await metadataBy(read, issuer)
    assertMetadataOf(issuer, metadata)
    return { ...metadata, issuer }
  } catch (error) {
    // Other errors may hold what the server said.
    throw isThrown(error, OpaqueFailure) ? error : new OpaqueFailure('ERR_INTROSPECTION_METADATA')
  }
}
