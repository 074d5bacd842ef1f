import { once } from 'node:events'
import { serveAuthority } from './authority-server.ts'
import { createTestAuthority, type TestAuthority } from './test-authority.ts'

/** A test authority whose issuer is its own address, where it can be discovered. */
export interface StandingAuthority extends Pick<TestAuthority, 'issuer' | 'audience' | 'token'> {
  /** Address of its keys. */
  readonly keysUrl: string
  close(): Promise<void>
}

/**
 * Starts one on loopback. It keeps the process alive until its `close()`.
 *
 * @param port TCP port; 0: any free one
 * @param audience the `aud` claim of its tokens
 */
export async function startAuthority(port: number, audience: string): Promise<StandingAuthority> {
  const algorithm = 'ES256'
  const { publicKeys, token } = await createTestAuthority({ audience, algorithm })
  const served = await serveAuthority(port, (actual) => {
    return { issuer: issuerAt(actual), algorithm, publicKeys }
  })
  const { server, keysUrl } = served
  const issuer = issuerAt(served.port)
  server.ref()
  return {
    issuer,
    audience,
    keysUrl,
    token: (userInfo, options) => token(userInfo, { issuer, ...options }),
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

/** With the host of the default `publicKeysUrl`. */
function issuerAt(port: number): string {
  return `http://localhost:${port}`
}
