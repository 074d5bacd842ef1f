import {
  importWrittenKey,
  type KeyFlaw,
  readWrittenKey,
  type VerificationKey,
  withoutEmptyMembers,
} from '../../../lib/identity/jwks/jwk.ts'

/** The key of one member of a JWK set, or why it must not verify a token. */
export function readKey(member: unknown): VerificationKey | KeyFlaw {
  const written = readWrittenKey(withoutEmptyMembers(member))
  return typeof written === 'string' ? written : importWrittenKey(written)
}
