export { assertGuarded } from './tools/assert-guarded.ts'
export { type ProbedRoute, probe } from './tools/probe.ts'
export type { GrantedUser, PersonaUser, ProbeOptions } from './tools/probe-options.ts'
export {
  createTestAuthority,
  type TestAuthority,
  type TestAuthorityOptions,
  type TestIssuerRules,
  type TestUserInfo,
} from './tools/test-authority.ts'
export type { TestTokenOptions } from './tools/token-times.ts'
