import { createPublicKey } from 'node:crypto'
import type { TestAuthority } from '../../lib/entrypoints/testing/index.ts'
import type { BenchSetup } from './guards.ts'

type Given = Pick<BenchSetup, 'algorithm' | 'plugin' | 'cacheSize'>

/** What the servers of one contest get. The authority begins to serve its keys. */
export async function setupFor(authority: TestAuthority, given: Given): Promise<BenchSetup> {
  const [jwk] = authority.publicKeys.keys
  if (jwk === undefined) throw new Error('no key')
  const publicKey = createPublicKey({ key: jwk, format: 'jwk' })
  return {
    ...given,
    publicKeys: { keys: [jwk] },
    publicKeysUrl: await authority.listen(),
    publicKeyPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    issuer: authority.issuer,
    audience: authority.audience,
  }
}
