export {
  createTestAuthority,
  type TestAuthority,
  type TestAuthorityOptions,
  type TestIssuerRules,
  type TestUserInfo,
} from './tools/test-authority.ts'
export type { TestTokenOptions } from './tools/token-times.ts'
