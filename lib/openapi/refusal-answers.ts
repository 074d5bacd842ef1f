import type { Policy } from '../declaration/policy.ts'

/** What the answers depend on beside the route. */
export interface AnswerRules {
  /** What says which tenants exist, if anything does. */
  readonly tenants?: unknown
}

/**
 * The statuses of the refusals of a guarded route. They do not depend on where the document is
 * printed, so dev mode has the same ones.
 */
export function refusalsOf(policy: Policy, { tenants }: AnswerRules): (keyof typeof REFUSALS)[] {
  const hasTenant = policy.tenant !== null
  const { authorization } = policy.declared
  return [
    ...(hasTenant ? ([400] as const) : []),
    401,
    ...(hasTenant || authorization || policy.requirement ? ([403] as const) : []),
    ...(hasTenant && tenants !== undefined ? ([404] as const) : []),
    503,
  ]
}

/**
 * The Response Object (OpenAPI 3.1 §4.8.17) of a refusal. Each call makes a new one, because in
 * YAML one object in two places becomes an alias.
 */
export function answerOf(status: keyof typeof REFUSALS, schema: string): object {
  const { description, header } = REFUSALS[status]
  return {
    description,
    ...(header && { headers: { [header]: { schema: { type: 'string' } } } }),
    content: {
      'application/json': { schema: { $ref: `#/components/schemas/${schema}` } },
    },
  }
}

const CHALLENGE = 'WWW-Authenticate'

const REFUSALS = {
  400: {
    description: 'A tenant is required, or is not valid',
    header: null,
  },
  401: {
    description: 'An access token is required, or is not valid',
    header: CHALLENGE,
  },
  403: {
    description: 'Access to the tenant is not permitted, or a required resource is missing',
    header: CHALLENGE,
  },
  404: {
    description: 'The tenant does not exist',
    header: null,
  },
  503: {
    description: 'The request cannot be decided now',
    header: 'Retry-After',
  },
} as const

/** The body of a refusal, unless the application formats its errors itself. */
export function errorSchema(): object {
  const text = () => ({ type: 'string' })
  return {
    type: 'object',
    required: ['statusCode', 'error', 'message'],
    properties: {
      statusCode: { type: 'integer' },
      code: text(),
      error: text(),
      message: text(),
    },
  }
}
