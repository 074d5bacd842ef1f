import { randomBytes } from 'node:crypto'
import type { TestAuthority } from '../../lib/entrypoints/testing/index.ts'
import type { Load } from './load.ts'
import { bearerTokens } from './tokens.ts'

/** Of what is refused anew each time, so many different ones are sent. */
const STRANGERS = 1_000

/** What is refused, and with which status. */
export async function refusedLoads(
  authority: TestAuthority,
  path: string,
): Promise<Readonly<Record<string, Load>>> {
  const member = await bearerTokens(authority, 1)
  const powerless = await bearerTokens(authority, 1, ['order:read'])
  const expired = await bearerTokens(authority, STRANGERS, undefined, { expiresIn: -3_600 })
  const foreign = await bearerTokens(authority, STRANGERS, undefined, { audience: 'other' })
  const honest = await bearerTokens(authority, STRANGERS)
  const large = Array.from({ length: STRANGERS }, () => {
    return `Bearer ${randomBytes(15_000 * (3 / 4)).toString('base64url')}`
  })
  return {
    'no token': { path, authorizations: [], status: 401 },
    'foreign tenant': { path: path.replace('acme', 'other'), authorizations: member, status: 403 },
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
