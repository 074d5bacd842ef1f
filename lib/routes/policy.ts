import type { Settings } from '../config/options.ts'
import { asksForProof } from '../identity/jwt/confirmation.ts'
import { type Declared, NEVER_MET, readDeclaration } from './declaration.ts'
import { resembles } from './declaration-keys.ts'
import { parameterNames } from './route-path.ts'

/**
 * Where a route's tenant stands: in a segment of the path, or in the query, for which
 * `resolveTenant` may answer. Null: the route declares no tenant.
 */
export type TenantPlace = 'path' | 'query' | null

/** A declaration as it counts by the options. */
export interface Policy extends Omit<Declared, 'tenant'> {
  /** True: nothing at all is decided: an open route without a tenant and without a check. */
  readonly isExempt: boolean
  readonly tenant: TenantPlace
  /** True: a request may name no tenant in its query. */
  readonly mayBeAbsent: boolean
  readonly declared: Declared
  /** True: its path has a parameter that looks like the tenant segment, and is none. */
  readonly hasSuspectParameter: boolean
}

export type PolicyRules = Pick<
  Settings,
  | 'multitenancy'
  | 'devMode'
  | 'tenantDefault'
  | 'checks'
  | 'confirmation'
  | 'tenantParameter'
  | 'resolveTenant'
>

const { declared: UNDECLARED } = readDeclaration({})

/** The policy of a route of which too little is known. No user passes, not even a superuser. */
export const CLOSED_POLICY: Policy = Object.freeze({
  ...UNDECLARED,
  isExempt: false,
  tenant: null,
  mayBeAbsent: false,
  declared: UNDECLARED,
  hasSuspectParameter: false,
  requirement: NEVER_MET,
})

/**
 * The policy of a route, and all mistakes in it.
 *
 * @param route.problems the mistakes in its declaration
 * @param route.strict whether a choice that the declaration leaves is read strictly; a
 * contradiction is in any case
 */
export function compilePolicy(
  route: {
    readonly url: string
    readonly declared: Declared
    readonly problems: readonly string[]
    readonly strict: boolean
  },
  rules: PolicyRules,
): { policy: Policy; problems: string[] } {
  const { declared } = route
  const tenant = tenantOf(declared, rules)
  const problems = [...route.problems]
  const names = parameterNames(route.url)
  const segments = names.filter((name) => name === rules.tenantParameter)
  const hasSegment = segments.length > 0
  // The router keeps the last one, and a proxy may have judged another.
  const hasSeveral = segments.length > 1 && !(declared.noauth && tenant === false)
  if (hasSeveral) problems.push(`:${rules.tenantParameter} stands in the path more than once`)
  if (hasSegment && tenant === 'optional') {
    problems.push("tenant is 'optional' on a path with a tenant segment")
  }
  if (!hasSegment && tenant === 'required' && !rules.multitenancy) {
    problems.push("tenant is 'required' without a tenant segment, and multitenancy is off")
  }
  const hasTenant = tenant !== false || (hasSegment && !declared.noauth)
  if (declared.suspended && !hasTenant) {
    problems.push('suspended is declared without a tenant')
  }
  const lateProblems = declared.late ? lateFaults(tenant, hasSegment, rules) : []
  problems.push(...lateProblems)
  const unknown = unknownChecks(declared, rules)
  problems.push(...unknown.map((name) => `check names ${name}, which is not one of checks`))
  const { confirmation } = rules
  const isUnproved = declared.mustBeBound && !asksForProof(confirmation)
  if (isUnproved) {
    problems.push(`confirmation is declared, and the option confirmation is '${confirmation}'`)
  }
  const mistaken = mistakenSegments(names, rules)
  // Its handler might take the parameter for the tenant that was checked. Without a tenant, a
  // warning is enough.
  const isOfAnother = mistaken.length > 0 && tenant !== false
  if (isOfAnother) problems.push(...mistaken)
  const isClosed = isOfAnother || hasSeveral || unknown.length > 0 || isUnproved
  const requirement = isClosed ? NEVER_MET : declared.requirement
  // A mistake in an early route does not stop the boot.
  const noauth = declared.noauth && problems.length === 0
  const isExempt = noauth && tenant === false && declared.checks === null
  const policy = {
    ...declared,
    noauth,
    isExempt,
    tenant: isExempt ? null : placeOf(tenant, hasSegment, rules),
    mayBeAbsent: mayBeAbsent(tenant, rules, route.strict),
    declared,
    hasSuspectParameter: mistaken.length > 0,
    requirement,
    // Contradictions close.
    guests: declared.guests && !refusesUsers(declared, requirement) && !route.strict,
    late: declared.late && lateProblems.length === 0,
    mustBeBound: declared.mustBeBound || confirmation === 'require',
  }
  return { policy: Object.freeze(policy), problems }
}

function refusesUsers(
  { checks, stepUp, mustBeBound, late }: Declared,
  requirement: Policy['requirement'],
): boolean {
  return late || requirement !== null || checks !== null || stepUp !== null || mustBeBound
}

/** Without a function that reads the body there is nothing to wait for. */
function lateFaults(
  tenant: Declared['tenant'],
  hasSegment: boolean,
  { resolveTenant }: PolicyRules,
): string[] {
  return [
    ...(hasSegment ? ['late is declared on a path with a tenant segment'] : []),
    ...(tenant === false && !hasSegment ? ['late is declared without a tenant'] : []),
    ...(resolveTenant === undefined ? ['late is declared, and resolveTenant is not given'] : []),
  ]
}

function unknownChecks({ checks }: Declared, rules: PolicyRules): readonly string[] {
  const known = rules.checks ?? {}
  return (checks ?? []).filter((name) => !Object.hasOwn(known, name))
}

/**
 * The parameters of a path without a tenant segment that look like one. Without this check, the
 * tenant of the route would be read from the query.
 */
function mistakenSegments(names: readonly string[], { tenantParameter }: PolicyRules): string[] {
  if (names.includes(tenantParameter)) return []
  return names
    .filter((name) => resembles(name, tenantParameter) || resembles(name, 'tenant'))
    .map(
      (name) =>
        `:${name} looks like the tenant segment, which is :${tenantParameter}; rename it, or set tenantParameter`,
    )
}

/** The declaration of a tenant, or what stands for none. */
function tenantOf(declared: Declared, { tenantDefault }: PolicyRules): Declared['tenant'] {
  const { tenant, declaresNoTenant, noauth } = declared
  return tenant === false && !declaresNoTenant && !noauth ? tenantDefault : tenant
}

function placeOf(
  tenant: Declared['tenant'],
  hasSegment: boolean,
  { multitenancy, devMode }: PolicyRules,
): TenantPlace {
  if (hasSegment) return 'path'
  if (tenant === false) return null
  if (!multitenancy && !devMode && tenant !== 'required') return null
  return 'query'
}

function mayBeAbsent(
  tenant: Declared['tenant'],
  { devMode }: PolicyRules,
  strict: boolean,
): boolean {
  if (devMode) return tenant !== 'required'
  return tenant === 'optional' && !strict
}
