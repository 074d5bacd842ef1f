import type { Settings } from '../config/options.ts'
import { stepUpWords } from '../identity/authorization/step-up.ts'
import { MAX_TENANT_LENGTH } from '../identity/tenants/tenant-name.ts'
import { isObject } from '../platform/runtime/own-property.ts'
import type { Policy } from '../routes/policy.ts'

/**
 * The statuses of the refusals of a guarded route. They do not depend on where the document is
 * printed, so dev mode has the same ones.
 */
export function refusalsOf(
  { noauth, isExempt, tenant, guests, requirement, checks, declared }: Policy,
  { tenants }: Pick<Settings, 'tenants'>,
): (keyof typeof REFUSALS)[] {
  const hasTenant = tenant !== null
  const mayBeUnknown = hasTenant && tenants !== undefined
  const hasRights = declared.authorization || requirement !== null
  const isForbidden = hasRights || mayBeUnknown || (hasTenant && !guests)
  return [
    ...(hasTenant ? ([400] as const) : []),
    ...(noauth ? [] : ([401] as const)),
    ...(checks !== null || (isForbidden && !noauth) ? ([403] as const) : []),
    ...(mayBeUnknown ? ([404] as const) : []),
    ...(isExempt ? [] : ([503] as const)),
  ]
}

/**
 * The Response Object (OpenAPI 3.1 §4.8.17) of a refusal. Each call makes a new one, because in
 * YAML one object in two places becomes an alias.
 */
export function responseOf(
  status: keyof typeof REFUSALS,
  schema: string,
  policies: readonly Policy[],
): object {
  const { description, header } = REFUSALS[status]
  const words = status === 403 ? requirementWords : status === 401 ? loginWords : () => []
  const more = [...new Set(policies.flatMap(words))]
  return {
    description: [description, ...more].join('. '),
    ...(header && { headers: { [header]: { schema: { type: 'string' } } } }),
    content: {
      'application/json': { schema: { $ref: `#/components/schemas/${schema}` } },
    },
  }
}

const REQUIRED = {
  all: { words: 'It requires', between: ' and ' },
  any: { words: 'It requires', between: ' or ' },
  by: { words: 'By the request it requires of', between: ', ' },
} as const

function requirementWords({ requirement, checks }: Policy): string[] {
  const required = requirement && REQUIRED[requirement.mode]
  return [
    ...(required ? [`${required.words} ${requirement.ids.join(required.between)}`] : []),
    ...(checks === null ? [] : [`Checked by ${checks.join(', ')}`]),
  ]
}

function loginWords({ stepUp }: Policy): string[] {
  return stepUp === null ? [] : [`It requires a login: ${stepUpWords(stepUp)}`]
}

const CHALLENGE = 'WWW-Authenticate'

const REFUSALS = {
  400: { description: 'A tenant is required, or is not valid', header: null },
  401: { description: 'An access token is required, or is not valid', header: CHALLENGE },
  403: {
    description: 'Access to the tenant is not permitted, or a required resource is missing',
    header: CHALLENGE,
  },
  404: { description: 'The tenant does not exist', header: null },
  503: { description: 'The request cannot be decided now', header: 'Retry-After' },
} as const

/** The body of a refusal, unless the application formats its errors itself. */
export function errorSchema(): object {
  const text = () => ({ type: 'string' })
  return {
    type: 'object',
    required: ['statusCode', 'error', 'message'],
    properties: { statusCode: { type: 'integer' }, code: text(), error: text(), message: text() },
  }
}

export type TenantParameterRules = Pick<
  Settings,
  'tenantParameter' | 'tenantQuery' | 'resolveTenant'
>

export interface OuterParameters {
  /** Those of its path item. */
  readonly shared: readonly unknown[]
  /** Those of the document's components, by name. */
  readonly named: Draft
}

/**
 * An operation's own parameters with its tenant among them. A tenant parameter that is there
 * already is kept, and is made required if the guard requires it.
 */
export function withTenantParameter(
  own: readonly unknown[],
  policy: Policy,
  outer: OuterParameters,
  { resolveTenant, tenantParameter: inPath, tenantQuery }: TenantParameterRules,
): readonly unknown[] {
  const place = policy.tenant
  if (place === null) return own
  if (place === 'query' && resolveTenant !== undefined) return own
  const wanted = place === 'path' ? inPath : tenantQuery
  const required = place === 'path' || !policy.mayBeAbsent
  const isTenant = (parameter: unknown): boolean => {
    const { name, in: where } = dereference(draft(parameter), outer.named)
    return name === wanted && where === place
  }
  if (own.some(isTenant)) {
    return own.map((parameter) =>
      required && isObject(parameter) && isTenant(parameter) && !isReference(parameter)
        ? { ...parameter, required }
        : parameter,
    )
  }
  return outer.shared.some(isTenant) ? own : [...own, tenantParameter(wanted, place, required)]
}

function tenantParameter(name: string, place: 'path' | 'query', required: boolean): Draft {
  return {
    name,
    in: place,
    required,
    description: 'The tenant that the request is for',
    schema: { type: 'string', minLength: 1, maxLength: MAX_TENANT_LENGTH },
  }
}

const REFERENCE = '#/components/parameters/'

function isReference({ $ref }: Draft): boolean {
  return typeof $ref === 'string'
}

function dereference(parameter: Draft, named: Draft): Draft {
  const { $ref } = parameter
  if (typeof $ref !== 'string' || !$ref.startsWith(REFERENCE)) return parameter
  return draft(named[$ref.slice(REFERENCE.length)])
}

/**
 * An object of a document. It is read before anything has validated it, so each member may have any
 * type.
 */
export type Draft = Readonly<Record<string, unknown>>

/** A copy of an object; an empty one for any other value. */
export function draft(value: unknown): Draft {
  return isObject(value) ? { ...value } : {}
}

/** A list; an empty one for any other value. */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function mapValues(holder: Draft, map: (value: unknown, key: string) => unknown): Draft {
  return Object.fromEntries(Object.entries(holder).map(([key, value]) => [key, map(value, key)]))
}

/** The wanted name, or a name like it that is not taken. */
export function freeName(wanted: string, taken: Draft): string {
  return Object.hasOwn(taken, wanted) ? freeName(`${wanted}_`, taken) : wanted
}
