/** @module testing */

export type { ListedPlace as ProbedPlace } from '../../routes/route-list.ts'
export { assertGuarded, type ProbedRoute, probe } from './probe.ts'
export type { GrantedUser, PersonaUser, ProbeOptions } from './probe-target.ts'
export type { ProvedHeaders } from './proof-key.ts'
export {
  type BoundUser,
  createTestAuthority,
  type TestAuthority,
  type TestAuthorityOptions,
  type TestIssuerRules,
  type TestPublicKey,
  type TestTokenOptions,
  type TestUserInfo,
} from './test-authority.ts'
