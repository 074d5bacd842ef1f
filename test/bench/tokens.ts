import { hash, randomBytes, randomUUID } from 'node:crypto'
import { calculateJwkThumbprint, exportJWK, exportSPKI, generateKeyPair, SignJWT } from 'jose'
import type { TestAuthority } from '../../lib/entrypoints/testing/index.ts'
import type { TestTokenOptions } from '../../lib/entrypoints/testing/test-authority.ts'

const DAY = 86_400

/** A user's rights in the tenant of the bench. */
export const MAY_READ_MENU = ['menu:read', 'order:read']

/** Authorization headers of different users, each of about 700 characters, as real ones have. */
export function bearerTokens(
  authority: TestAuthority,
  count: number,
  rights: readonly string[] = MAY_READ_MENU,
  options: TestTokenOptions = {},
): Promise<string[]> {
  return Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const claims = {
        sub: `user-${i}`,
        preferred_username: `user-${i}`,
        jti: randomBytes(32).toString('hex'),
        resources: { acme: rights, '*': ['profile:read'] },
      }
      return `Bearer ${await authority.token(claims, { expiresIn: DAY, ...options })}`
    }),
  )
}

export const PUBLIC_URL = 'https://api.bench.test'

/** Different proofs of one client, sent in turn. */
const PROOFS = 2_000

/** One token that is bound to a key of the algorithm, with proofs for one path. */
export async function boundTokens(authority: TestAuthority, algorithm: string, path: string) {
  const { publicKey, privateKey } = await generateKeyPair(algorithm)
  const jwk = await exportJWK(publicKey)
  const jkt = await calculateJwkThumbprint(jwk)
  const resources = { acme: MAY_READ_MENU, '*': ['profile:read'] }
  const token = await authority.token({ resources, cnf: { jkt } }, { expiresIn: DAY })
  const ath = hash('sha256', token, 'base64url')
  const header = { typ: 'dpop+jwt', alg: algorithm, jwk }
  const proofs = await Promise.all(
    Array.from({ length: PROOFS }, () =>
      new SignJWT({ htm: 'GET', htu: PUBLIC_URL + path, jti: randomUUID(), ath })
        .setProtectedHeader(header)
        // The rounds take minutes.
        .setIssuedAt(Math.floor(Date.now() / 1000) + 300)
        .sign(privateKey),
    ),
  )
  const authorizations = proofs.map(() => `DPoP ${token}`)
  return { authorizations, proofs, proofKeyPem: await exportSPKI(publicKey) }
}
