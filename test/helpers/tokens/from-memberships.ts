import type { UserInfo } from '../../../lib/index.ts'

/** For `mapClaims`: the claim of the OIDC server for the rights of a user in each tenant. */
export function fromMemberships(claims: Record<string, unknown>): UserInfo {
  const { sub, preferred_username: name, memberships } = claims
  if (typeof sub !== 'string' || !isRights(memberships)) throw new Error('not our claims')
  return {
    sub,
    ...(typeof name === 'string' && { preferred_username: name }),
    resources: memberships,
  }
}

function isRights(value: unknown): value is Record<string, string[]> {
  return typeof value === 'object' && value !== null && Object.values(value).every(Array.isArray)
}
