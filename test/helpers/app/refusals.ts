import assert from 'node:assert/strict'
import { STATUS_CODES } from 'node:http'
import type { LightMyRequestResponse } from 'fastify'

export interface Refusal {
  readonly status: number
  readonly message: string
  /** The challenge after the realm; null: no challenge. */
  readonly challenge: string | null
  readonly retry?: true
}

/**
 * What a client sees of each refusal. The texts are written down here again, so that a test sees a
 * change of them.
 */
export const REFUSALS = {
  ERR_AUTH_TOKEN_MISSING: {
    status: 401,
    message: 'Authentication is required',
    challenge: '',
  },
  ERR_AUTH_TOKEN_INVALID: {
    status: 401,
    message: 'The access token is not valid',
    challenge: ', error="invalid_token"',
  },
  ERR_AUTH_STEP_UP_REQUIRED: {
    status: 401,
    message: 'A new login is required',
    challenge: ', error="insufficient_user_authentication"',
  },
  ERR_AUTH_TENANT_FORBIDDEN: {
    status: 403,
    message: 'Access to this tenant is not permitted',
    challenge: ', error="insufficient_scope"',
  },
  ERR_AUTH_RESOURCE_MISSING: {
    status: 403,
    message: 'A required resource is missing',
    challenge: ', error="insufficient_scope"',
  },
  ERR_AUTH_TENANT_MISSING: { status: 400, message: 'A tenant is required', challenge: null },
  ERR_AUTH_TENANT_INVALID: { status: 400, message: 'The tenant is not valid', challenge: null },
  ERR_AUTH_TENANT_UNKNOWN: { status: 404, message: 'The tenant does not exist', challenge: null },
  ERR_AUTH_TENANT_SUSPENDED: { status: 403, message: 'The tenant is suspended', challenge: null },
  ERR_AUTH_NOT_PERMITTED: { status: 403, message: 'This is not permitted', challenge: null },
  ERR_AUTH_KEYS_UNAVAILABLE: {
    status: 503,
    message: 'Tokens cannot be verified now',
    challenge: null,
    retry: true,
  },
  ERR_AUTH_TENANTS_UNAVAILABLE: {
    status: 503,
    message: 'Tenants cannot be checked now',
    challenge: null,
    retry: true,
  },
  ERR_AUTH_REVOCATION_UNAVAILABLE: {
    status: 503,
    message: 'Revocation cannot be checked now',
    challenge: null,
    retry: true,
  },
  ERR_AUTH_ISSUERS_UNAVAILABLE: {
    status: 503,
    message: 'Issuers cannot be checked now',
    challenge: null,
    retry: true,
  },
  ERR_AUTH_INTROSPECTION_UNAVAILABLE: {
    status: 503,
    message: 'Tokens cannot be introspected now',
    challenge: null,
    retry: true,
  },
  ERR_AUTH_RESOURCES_UNAVAILABLE: {
    status: 503,
    message: 'Rights cannot be checked now',
    challenge: null,
    retry: true,
  },
  ERR_AUTH_PROOFS_UNAVAILABLE: {
    status: 503,
    message: 'Proofs cannot be checked now',
    challenge: null,
    retry: true,
  },
  ERR_AUTH_CHECK_UNAVAILABLE: {
    status: 503,
    message: 'Permission cannot be checked now',
    challenge: null,
    retry: true,
  },
} as const satisfies Record<string, Refusal>

export type RefusalCode = keyof typeof REFUSALS

/** The whole refusal: status, body, challenge, Cache-Control and Retry-After. */
export function assertRefused(
  response: LightMyRequestResponse,
  code: RefusalCode,
  scope?: string,
): void {
  const refusal: Refusal = REFUSALS[code]
  const { status, message } = refusal
  assert.equal(response.statusCode, status)
  assert.equal(response.headers['content-type'], 'application/json; charset=utf-8')
  const body = { statusCode: status, code, error: STATUS_CODES[status], message }
  assert.equal(response.body, JSON.stringify(body))
  const asked = scope === undefined ? '' : `, scope="${scope}"`
  const challenge =
    refusal.challenge === null ? undefined : `Bearer realm="api"${refusal.challenge}${asked}`
  assert.equal(response.headers['www-authenticate'], challenge)
  assert.equal(response.headers['cache-control'], 'no-store')
  const retryAfter = response.headers['retry-after']
  if (refusal.retry) assert.match(String(retryAfter), /^[1-9]\d*$/)
  else assert.equal(retryAfter, undefined)
}

/** Status and code in short, for tables. */
export function outcome(response: LightMyRequestResponse): string {
  if (response.statusCode < 400) return String(response.statusCode)
  const { code } = response.json()
  return code === undefined ? String(response.statusCode) : `${response.statusCode} ${code}`
}
