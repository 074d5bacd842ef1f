import type { TenantPlace } from '../tenancy/resolve-tenant.ts'
import { type Declared, type Requirement, readDeclaration } from './declaration.ts'
import { hasTenantSegment } from './tenant-segment.ts'

/** What holds for the requests of one route. */
export interface Policy {
  /** No authentication. */
  readonly noauth: boolean
  /** Where the tenant stands. */
  readonly tenant: TenantPlace
  /** Whether a request may name no tenant where it stands in the query. */
  readonly mayBeAbsent: boolean
  /** What handlers receive. */
  readonly declared: Declared
  readonly requirement: Requirement | null
}

export interface PolicyRules {
  readonly multitenancy: boolean
  readonly devMode: boolean
}

/**
 * The policy of a route, and everything that contradicts itself in it. What is contradictory, and, for a route that
 * was written `tooEarly`, whatever leaves a choice, is read in the stricter way.
 */
export function compilePolicy(
  route: {
    readonly url: string
    readonly config: object
    readonly tooEarly: boolean
  },
  rules: PolicyRules,
): { policy: Policy; problems: string[] } {
  const { declared, problems } = readDeclaration(route.config)
  const hasSegment = hasTenantSegment(route.url)
  if (hasSegment && declared.tenant === 'optional') {
    problems.push("tenant is 'optional' on a path with a tenant segment")
  }
  if (!hasSegment && declared.tenant === 'required' && !rules.multitenancy) {
    problems.push("tenant is 'required' without a tenant segment, and multitenancy is off")
  }
  const policy = {
    noauth: declared.noauth,
    tenant: declared.noauth ? null : placeOf(declared, hasSegment, rules, route.tooEarly),
    mayBeAbsent: mayBeAbsent(declared, rules, route.tooEarly),
    declared,
    requirement: declared.requirement,
  }
  return { policy: Object.freeze(policy), problems }
}

function placeOf(
  { tenant }: Declared,
  hasSegment: boolean,
  { multitenancy, devMode }: PolicyRules,
  tooEarly: boolean,
): TenantPlace {
  if (hasSegment) return 'path'
  if (tenant === false) return null
  if (!multitenancy && !devMode && tenant !== 'required') return null
  return tenant === 'optional' && !tooEarly ? 'optional' : 'query'
}

function mayBeAbsent({ tenant }: Declared, { devMode }: PolicyRules, tooEarly: boolean): boolean {
  if (devMode) return tenant !== 'required'
  return tenant === 'optional' && !tooEarly
}
