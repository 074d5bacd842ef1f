import type { AuthOptions } from '../../../lib/index.ts'

/** A function that a test writes. */
export type Callback = () => never

const OPAQUE = { authorization: 'Bearer no-jwt' }

/**
 * The functions that an application may give, the outcome of a request for which each fails, and
 * the headers of that request, where they are not those of a user. The last two are not waited for.
 */
export const CALLBACKS: readonly (readonly [
  name: string,
  options: (callback: Callback) => AuthOptions,
  outcome: string,
  headers?: Record<string, string>,
])[] = [
  ['tenants', (tenants) => ({ tenants }), '503 ERR_AUTH_TENANTS_UNAVAILABLE'],
  ['isRevoked', (isRevoked) => ({ isRevoked }), '503 ERR_AUTH_REVOCATION_UNAVAILABLE'],
  ['resolveTenant', (resolveTenant) => ({ resolveTenant }), '503 ERR_AUTH_TENANTS_UNAVAILABLE'],
  ['resourcesOf', (resourcesOf) => ({ resourcesOf }), '503 ERR_AUTH_RESOURCES_UNAVAILABLE'],
  [
    'opaqueToken',
    (opaqueToken) => ({ opaqueToken }),
    '503 ERR_AUTH_INTROSPECTION_UNAVAILABLE',
    OPAQUE,
  ],
  ['issuers', (issuers) => ({ issuers }), '503 ERR_AUTH_ISSUERS_UNAVAILABLE'],
  ['mapClaims', (mapClaims) => ({ mapClaims }), '401 ERR_AUTH_TOKEN_INVALID'],
  ['tokenFrom', (tokenFrom) => ({ tokenFrom }), '401 ERR_AUTH_TOKEN_INVALID', {}],
]
