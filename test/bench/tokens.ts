import { randomBytes } from 'node:crypto'
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
