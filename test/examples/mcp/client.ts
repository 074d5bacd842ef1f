import {
  Client,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import { Browser } from '../../helpers/processes/browser.ts'

const CALLBACK = 'http://127.0.0.1/callback'

/**
 * An MCP client that knows the server's address only. The rest it learns: from the 401 where the
 * metadata is, from that which authorization server to go to.
 */
export async function connect(
  resource: string,
  user: string,
  memory = new ClientMemory(),
): Promise<Client> {
  const transport = () =>
    new StreamableHTTPClientTransport(new URL(resource), {
      authProvider: memory,
      onInsufficientScope: 'throw',
    })
  const client = () => new Client({ name: 'example', version: '1.0.0' })

  const stranger = transport()
  try {
    await client().connect(stranger)
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error
  }
  const arrived = await memory.logIn(user)
  await stranger.finishAuth(arrived.searchParams)

  const known = client()
  await known.connect(transport())
  return known
}

/** What a client has to remember on the way, and its user's browser. */
export class ClientMemory implements OAuthClientProvider {
  readonly redirectUrl = CALLBACK
  readonly clientMetadata: OAuthClientMetadata = {
    client_name: 'example',
    redirect_uris: [CALLBACK],
    grant_types: ['authorization_code'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  }
  #client: StoredOAuthClientInformation | undefined
  #tokens: StoredOAuthTokens | undefined
  #discovered: OAuthDiscoveryState | undefined
  #verifier = ''
  #login: URL | undefined

  clientInformation = () => this.#client
  saveClientInformation = (client: StoredOAuthClientInformation) => {
    this.#client = client
  }
  tokens = () => this.#tokens
  saveTokens = (tokens: StoredOAuthTokens) => {
    this.#tokens = tokens
  }
  discoveryState = () => this.#discovered
  saveDiscoveryState = (discovered: OAuthDiscoveryState) => {
    this.#discovered = discovered
  }
  codeVerifier = () => this.#verifier
  saveCodeVerifier = (verifier: string) => {
    this.#verifier = verifier
  }
  redirectToAuthorization = (login: URL) => {
    this.#login = login
  }

  /** Where the browser of the user arrives after the login. */
  async logIn(user: string): Promise<URL> {
    if (this.#login === undefined) throw new Error('the client asked for no login')
    this.#login.searchParams.set('login_hint', user)
    return new Browser().follow(this.#login, CALLBACK)
  }
}
