import { hash, randomBytes, randomUUID } from 'node:crypto'
import { calculateJwkThumbprint, exportJWK, exportSPKI, generateKeyPair, SignJWT } from 'jose'
import type { TestAuthority } from '../../lib/entrypoints/testing/index.ts'
import type { TestTokenOptions } from '../../lib/entrypoints/testing/test-authority.ts'
import type { Load } from './drivers.ts'

const DAY = 86_400

/** A user's rights in the tenant of the bench. */
const MAY_READ_MENU = ['menu:read', 'order:read']

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

/** Of what is refused anew each time, so many different ones are sent. */
const STRANGERS = 1_000

/** What is refused, and with which status: to so many users, or to strangers. */
export async function refusedLoads(
  authority: TestAuthority,
  path: string,
  users: number,
): Promise<Readonly<Record<string, Load>>> {
  const members = await bearerTokens(authority, users)
  const powerless = await bearerTokens(authority, users, ['order:read'])
  const expired = await bearerTokens(authority, STRANGERS, undefined, { expiresIn: -3_600 })
  const foreign = await bearerTokens(authority, STRANGERS, undefined, { audience: 'other' })
  const honest = await bearerTokens(authority, STRANGERS)
  const large = Array.from({ length: STRANGERS }, () => {
    return `Bearer ${randomBytes(15_000 * (3 / 4)).toString('base64url')}`
  })
  return {
    'no token': { path, authorizations: [], status: 401 },
    'foreign tenant': {
      path: path.replace('acme', 'other'),
      authorizations: members,
      status: 403,
    },
    'missing resource': { path, authorizations: powerless, status: 403 },
    expired: { path, authorizations: expired, status: 401 },
    'wrong audience': { path, authorizations: foreign, status: 401 },
    'forged signature': { path, authorizations: honest.map(forged), status: 401 },
    'header of 15 kB': { path, authorizations: large, status: 401 },
  }
}

/** The same token with other letters in the place of its signature. */
function forged(authorization: string): string {
  const [header, payload, signature = ''] = authorization.split('.')
  const length = Buffer.from(signature, 'base64url').length
  return `${header}.${payload}.${randomBytes(length).toString('base64url')}`
}

export const PUBLIC_URL = 'https://api.bench.test'

/** Different proofs of one client, sent in turn. */
const PROOFS = 2_000

/** One token that is bound to a key of the algorithm, with proofs for one path. */
export async function boundTokens(
  authority: TestAuthority,
  algorithm: string,
  path: string,
  count = PROOFS,
) {
  const { publicKey, privateKey } = await generateKeyPair(algorithm)
  const jwk = await exportJWK(publicKey)
  const jkt = await calculateJwkThumbprint(jwk)
  const resources = { acme: MAY_READ_MENU, '*': ['profile:read'] }
  const token = await authority.token({ resources, cnf: { jkt } }, { expiresIn: DAY })
  const ath = hash('sha256', token, 'base64url')
  const header = { typ: 'dpop+jwt', alg: algorithm, jwk }
  const proofs = await Promise.all(
    Array.from({ length: count }, () =>
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
