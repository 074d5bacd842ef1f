export { assertGuarded, type ProbedRoute, probe } from './tools/probe.ts'
export type { GrantedUser, PersonaUser, ProbeOptions } from './tools/probed-guard.ts'
export {
  createTestAuthority,
  type TestAuthority,
  type TestAuthorityOptions,
  type TestIssuerRules,
  type TestTokenOptions,
  type TestUserInfo,
} from './tools/test-authority.ts'
