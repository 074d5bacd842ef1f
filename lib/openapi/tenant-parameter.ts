import type { Policy } from '../declaration/policy.ts'
import { isObject } from '../outside/is-object.ts'
import { MAX_TENANT_LENGTH } from '../tenants/tenant-name.ts'
import { type Draft, draft } from './draft.ts'

export interface TenantParameterRules {
  /** Name of the path parameter that is the tenant. */
  readonly tenantParameter: string
  /** Whether `resolveTenant` gives the tenant in place of the query. */
  readonly resolveTenant?: unknown
}

/** The Parameter Objects that stand around an operation. */
export interface OuterParameters {
  /** Of its path item. */
  readonly shared: readonly unknown[]
  /** Of the document's components, by name. */
  readonly named: Draft
}

/**
 * An operation's own parameters with its tenant among them. A tenant parameter that is there
 * already is kept, and is made required where the guard requires it.
 */
export function withTenantParameter(
  own: readonly unknown[],
  policy: Policy,
  outer: OuterParameters,
  { resolveTenant, tenantParameter: inPath }: TenantParameterRules,
): readonly unknown[] {
  const place = policy.tenant
  if (place === null) return own
  if (place === 'query' && resolveTenant !== undefined) return own
  const wanted = place === 'path' ? inPath : 'tenant'
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
