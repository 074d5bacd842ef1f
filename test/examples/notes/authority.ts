import { startAuthority } from '../../../lib/entrypoints/testing/test-authority.ts'

/** Seconds; long enough for a demo that stays open over a working day. */
const EXPIRES_IN = 12 * 60 * 60

/**
 * Three users with different rights. The last one holds a tenant that does not exist (any more).
 */
const USERS = {
  alice: { 'lazy-raccoon': ['note:read', 'note:write'], 'busy-beaver': ['note:read'] },
  bob: { 'lazy-raccoon': ['note:read'] },
  carol: { 'busy-beaver': ['note:read', 'note:write'], 'extinct-dodo': ['note:read'] },
}

export type UserName = keyof typeof USERS

/**
 * The authorization server: it signs tokens and publishes its public keys. In production it is a
 * separate server. This one is what `npx fastify-tenant-auth authority` runs.
 */
export async function startDemoAuthority(port: number) {
  const authority = await startAuthority(port, 'notes')
  return {
    issuer: authority.issuer,
    keysUrl: authority.keysUrl,
    close: (): Promise<void> => authority.close(),
    tokenOf: (user: UserName, { expiresIn = EXPIRES_IN } = {}): Promise<string> =>
      authority.token(
        { sub: `user-${user}`, preferred_username: user, resources: USERS[user] },
        { expiresIn },
      ),
  }
}

export type Authority = Awaited<ReturnType<typeof startDemoAuthority>>
