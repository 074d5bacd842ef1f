import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { JWK } from 'jose'

const KEYS_PATH = '/openidconnect/public_keys'

const METADATA_PATH = '/.well-known/openid-configuration'

const NOT_FOUND = `A test authority serves ${KEYS_PATH} and ${METADATA_PATH}. It has no login.\n`

interface AuthorityMetadata {
  readonly issuer: string
  readonly algorithm: string
  readonly publicKeys: { readonly keys: readonly JWK[] }
}

/**
 * Publishes keys and metadata on loopback. It keeps no process alive.
 *
 * @param port TCP port; 0: any free one
 * @param metadataAt the metadata at the time of a request, by the port
 */
export async function serveAuthority(
  port: number,
  metadataAt: (port: number) => AuthorityMetadata,
) {
  const server = createServer(({ url }, response) => {
    const [path] = String(url).split('?')
    const { issuer, algorithm, publicKeys } = metadataAt(portOf(server))
    if (path === KEYS_PATH) {
      response.setHeader('content-type', 'application/jwk-set+json')
      response.end(JSON.stringify(publicKeys))
    } else if (path === METADATA_PATH) {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(discoveryDocument(issuer, algorithm, originOf(server))))
    } else {
      response.writeHead(404, { 'content-type': 'text/plain' }).end(NOT_FOUND)
    }
  })
  server.on('connection', (socket) => socket.unref())
  server.unref()
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    server,
    port: portOf(server),
    keysUrl: `${originOf(server)}${KEYS_PATH}`,
    /** Ends open connections too. */
    async close(): Promise<void> {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

/**
 * All that OpenID Connect Discovery 1.0 §3 requires. The endpoints for logins are named because
 * clients insist on them; both answer 404.
 */
function discoveryDocument(issuer: string, algorithm: string, origin: string): object {
  return {
    issuer,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    jwks_uri: `${origin}${KEYS_PATH}`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [algorithm],
  }
}

function originOf(server: Server): string {
  return `http://127.0.0.1:${portOf(server)}`
}

function portOf(server: Server): number {
  const { port }: Partial<AddressInfo> = Object(server.address())
  return Number(port)
}
