import { ownMember, ownProperty } from '../../platform/runtime/own-property.ts'
import type { Route } from '../../routes/route.ts'
import { type ListedPlace, routePlaces } from '../../routes/route-list.ts'
import { pathParameters } from '../../routes/route-path.ts'
import type { RouteRegistry } from '../../routes/route-registry.ts'
import type { ProbeOptions, ProbeTarget } from './probe-target.ts'

/** An entry of `routes()`, with its route. */
export interface TargetPlace extends ListedPlace {
  readonly route: Route
}

export function targetPlaces({ seen, early = [] }: RouteRegistry): TargetPlace[] {
  return [...seen, ...early].flatMap((route) =>
    routePlaces(route).map((place) => ({ ...place, route })),
  )
}

/** An upgrade's headers (RFC 6455 §4.1). The key is the one of that section. */
const UPGRADE = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
}

/**
 * The headers by which the router finds this one of several routes, and those of an upgrade.
 *
 * @param given further ones, among which is one for each expression
 * @returns the headers, or why they are not known
 */
export function headersFor(
  { method, route }: TargetPlace,
  given: Readonly<Record<string, string>>,
): Record<string, string> | string {
  const upgrade = method === 'GET' && route.isWebSocket ? Object.entries(UPGRADE) : []
  const headers = new Map(upgrade)
  for (const [name, value] of Object.entries(given)) headers.set(name.toLowerCase(), value)
  for (const [name, value] of Object.entries(route.constraints)) {
    const header = name === 'version' ? 'accept-version' : name.toLowerCase()
    if (!(value instanceof RegExp)) headers.set(header, String(value))
    else if (!headers.has(header)) return `its constraint ${name} is an expression`
  }
  return Object.fromEntries(headers)
}

export interface ProbeAddress {
  /** A tenant that the authority may speak for. */
  readonly tenant: string
  /** A tenant that it may not speak for. Undefined: there is none that fits the path. */
  readonly outside: string | undefined
  /** A suspended tenant. Undefined: none is given, or it does not fit the path. */
  readonly suspended: string | undefined
  /** The url for one of these three, or, for null, one that names no tenant. */
  urlFor(tenant: string | null): string
}

/** Names of tenants that an authority hardly speaks for, in several forms. */
const OUTSIDE = ['elsewhere', 'elsewhere-2', 'zz', 'zzz', 'ZZ', '77', '777']

/** @returns the address, or why the route cannot be requested */
export function addressOf(
  { url, route }: TargetPlace,
  { loaded, issuer, tenants: known }: ProbeTarget,
  { foreign, suspended, params }: ProbeOptions,
): ProbeAddress | string {
  const { tenantParameter, tenantQuery } = loaded.settings
  const fill = (tenants: readonly string[] | undefined): FilledPath | string =>
    fillPath(url, (name) => {
      if (name === tenantParameter && tenants !== undefined) return tenants
      const given = params && ownProperty(params, name)
      const samples = samplesOf(route.paramsSchema, name)
      return typeof given === 'string' ? [given, ...samples] : samples
    })
  const filled = fill(known)
  if (typeof filled === 'string') {
    const option = filled === tenantParameter ? 'tenant' : `params: { ${filled} }`
    return `no known value fits :${filled}; give one: probe(app, authority, { ${option} })`
  }
  const others = [foreign ?? [], OUTSIDE].flat().filter((name) => !issuer.tenants.includes(name))
  const result = issuer.tenants === '*' ? '' : fill(others)
  const filledOutside = typeof result === 'object' ? result : undefined
  const outside = filledOutside && (filledOutside.values.get(tenantParameter) ?? others[0])
  const inSuspended = suspended === undefined ? '' : fill([suspended])
  const filledSuspended = typeof inSuspended === 'object' ? inSuspended : undefined
  return {
    tenant: filled.values.get(tenantParameter) ?? known?.[0] ?? PLAIN,
    outside,
    suspended: filledSuspended && suspended,
    urlFor(tenant) {
      const { path, values } =
        (tenant === outside && filledOutside) || (tenant === suspended && filledSuspended) || filled
      const isNamed = values.has(tenantParameter) || route.policy?.tenant === null
      return isNamed || tenant === null
        ? path
        : `${path}?${tenantQuery}=${encodeURIComponent(tenant)}`
    },
  }
}

interface FilledPath {
  readonly path: string
  readonly values: ReadonlyMap<string, string>
}

/**
 * Fills a path as the router reads it. The parameter of a wildcard is called `*`.
 *
 * @param samplesFor values for a parameter, the best first
 * @returns the path, or the name of the first parameter that no known value fits
 */
export function fillPath(
  url: string,
  samplesFor: (name: string) => readonly string[],
): FilledPath | string {
  const values = new Map<string, string>()
  let path = ''
  let at = 0
  for (const { name, expression, start, end } of pathParameters(url)) {
    const sample = firstMatch(expression, samplesFor(name))
    if (sample === undefined) return name
    values.set(name, sample)
    path += literal(url.slice(at, start)) + encodeURIComponent(sample)
    at = end
  }
  const rest = url.slice(at)
  path += rest.endsWith('*')
    ? literal(rest.slice(0, -1)) + literal(`${samplesFor('*')[0]}`)
    : literal(rest)
  return { path: path.startsWith('/') ? path : `/${path}`, values }
}

/** The router does not look at `^` and `$` at the ends of an expression. */
function firstMatch(expression: string, samples: readonly string[]): string | undefined {
  const source = expression.slice(1, -1).replace(/^\^/, '').replace(/\$$/, '')
  const whole = expression === '' ? /./s : new RegExp(`^(?:${source})$`)
  return samples.find((sample) => sample !== '' && whole.test(sample))
}

/** Text between parameters, in which `::` is a colon. */
function literal(text: string): string {
  return encodeURI(text.replaceAll('::', ':'))
}

/** The value of a parameter whose schema says nothing. */
const PLAIN = 'probe'

/** A value for each format that a path may have, and for each type but string. */
const SAMPLES: ReadonlyMap<unknown, string> = new Map([
  ['uuid', '7d444840-9dc0-4ad1-a2b1-5f2ab35a0e1f'],
  ['date', '2030-01-31'],
  ['date-time', '2030-01-31T12:00:00Z'],
  ['time', '12:00:00Z'],
  ['email', 'probe@example.com'],
  ['hostname', 'probe.example.com'],
  ['ipv4', '192.0.2.1'],
  ['ipv6', '2001:db8::1'],
  ['uri', 'https://probe.example.com/'],
  ['integer', '1'],
  ['number', '1'],
  ['boolean', 'true'],
])

/**
 * Values that a JSON schema of path parameters names or describes for one of them, the best first.
 * If it says less, the option `params` has to.
 */
export function samplesOf(paramsSchema: unknown, name: string): string[] {
  const schema = ownMember(ownMember(paramsSchema, 'properties'), name)
  const of = (keyword: string): unknown => ownMember(schema, keyword)
  const named = ['const', 'enum', 'examples', 'default'].flatMap(of).filter(isScalar)
  const described = ['format', 'type'].flatMap(of).map((each) => SAMPLES.get(each))
  return [...named.map(String), ...described, PLAIN].filter((sample) => sample !== undefined)
}

function isScalar(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value)
}
