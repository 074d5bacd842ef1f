export {
  createTestAuthority,
  type TestAuthority,
  type TestAuthorityOptions,
  type TestTokenOptions,
  type TestUserInfo,
} from './tools/test-authority.ts'
