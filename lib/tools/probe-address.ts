import type { Route } from '../declaration/route.ts'
import { type FilledPath, fillPath } from './filled-path.ts'
import { KnownSchema } from './known-schema.ts'
import type { ProbeOptions } from './probe-options.ts'
import type { ProbedGuard } from './probed-guard.ts'
import type { ProbedPlace } from './probed-places.ts'
import { PLAIN, samplesOfSchema } from './samples-of-schema.ts'

/** How to ask one route. */
export interface ProbeAddress {
  /** The tenant to ask for, which the authority may speak for. */
  readonly tenant: string
  /** A tenant that it may not speak for. Undefined: there is none that fits the path. */
  readonly outside: string | undefined
  /** The url for one of these two, or, for null, one that names no tenant. */
  urlFor(tenant: string | null): string
}

/** Names of tenants that an authority hardly speaks for, in several forms. */
const OUTSIDE = ['elsewhere', 'elsewhere-2', 'zz', 'zzz', 'ZZ', '77', '777']

/** @returns the address, or why the route cannot be asked */
export function addressOf(
  { url, route }: ProbedPlace,
  guard: ProbedGuard,
  { foreign, params }: ProbeOptions,
): ProbeAddress | string {
  const { tenantParameter } = guard.loaded.settings
  const fill = (tenants: readonly string[] | undefined): FilledPath | string =>
    fillPath(url, (name) =>
      name === tenantParameter && tenants !== undefined
        ? tenants
        : [...givenFor(name, params), ...samplesOf(route, name)],
    )
  const filled = fill(guard.tenants)
  if (typeof filled === 'string') {
    const option = filled === tenantParameter ? 'tenant' : `params: { ${filled} }`
    return `no known value fits :${filled}; give one: probe(app, authority, { ${option} })`
  }
  const pin = guard.issuer.tenants
  const others = [foreign ?? [], OUTSIDE].flat().filter((name) => !pin.includes(name))
  const filledOutside = pin === '*' ? undefined : fill(others)
  const outside =
    typeof filledOutside === 'object'
      ? (filledOutside.values.get(tenantParameter) ?? others[0])
      : undefined
  return {
    tenant: filled.values.get(tenantParameter) ?? guard.tenants?.[0] ?? PLAIN,
    outside,
    urlFor(tenant) {
      const { path, values } =
        tenant === outside && typeof filledOutside === 'object' ? filledOutside : filled
      const isNamed = values.has(tenantParameter) || route.policy?.tenant === null
      return isNamed || tenant === null ? path : `${path}?tenant=${encodeURIComponent(tenant)}`
    },
  }
}

/** The value that the probe was given for a parameter. */
function givenFor(name: string, params: ProbeOptions['params'] = {}): string[] {
  return Object.entries(params).flatMap(([given, value]) => (given === name ? [value] : []))
}

/** The values that the schema of a route's parameters has for one of them. */
function samplesOf(route: Route, name: string): string[] {
  const params = new KnownSchema(route.paramsSchema, route.scope.getSchemas())
  return [...params.ofProperty(name).flatMap(samplesOfSchema), PLAIN]
}
