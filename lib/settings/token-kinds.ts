import { Type } from '@sinclair/typebox'
import { supportedAlgorithms } from '../keys/algorithms.ts'
import type { UserInfo } from '../tokens/user-info.ts'
import { Callable, HTTP_URL, Text, TextOrList } from './option-kinds.ts'

// What an option says for all tokens, and `issuers` of those of one issuer.

export const Names = TextOrList('a string or a list of strings')

export const KeysUrl = (options: object = {}) =>
  Text('an http or https URL without credentials', { format: HTTP_URL, ...options })

export const PublicKeys = Type.Unsafe<{ readonly keys: readonly object[] }>(
  Type.Object(
    { keys: Type.Array(Type.Unknown()) },
    { expected: 'a JWK set with at least one public key that may verify' },
  ),
)

export const Algorithms = (options: object = {}) =>
  Type.Unsafe<readonly string[]>(
    Type.Array(Type.Union(supportedAlgorithms.map((name) => Type.Literal(name))), {
      minItems: 1,
      expected: `a list of ${supportedAlgorithms.join(', ')}`,
      ...options,
    }),
  )

export const TokenTypes = Type.Unsafe<readonly string[]>(
  Type.Array(Type.String({ pattern: '^[!-~]+$' }), {
    minItems: 1,
    expected: 'a list of token types such as at+jwt',
  }),
)

export const MapClaims = Callable<(claims: Record<string, unknown>) => UserInfo>()
