import type { Settings } from '../../../config/options.ts'
import { showValue } from '../../../config/redact.ts'
import type { IssuerEntry } from '../../../identity/authentication/issuer.ts'
import { isDiscoverable, jwksUriOf, readMetadata } from '../../../identity/jwks/discovery.ts'
import { MAX_KEYS_BYTES } from '../../../identity/jwks/fetch-jwks.ts'
import { reasonOf } from '../../../platform/http/failure.ts'
import { fetchJson } from '../../../platform/http/fetch-json.ts'
import { isSecureUrl, redactUrl } from '../../../platform/http/urls.ts'
import { isObject, ownProperty } from '../../../platform/runtime/own-property.ts'
import { type ExaminedKeys, examineKeys } from './examine-keys.ts'
import { Exchange, fetchFinding } from './fetch-advice.ts'
import { doubtful, type Finding, fine, spellingDifference, wrong } from './finding.ts'

/** What is found out about an issuer of the configuration: metadata, clock, and keys. */
export async function examineIssuer(
  entry: IssuerEntry,
  { keysTimeout, clockTolerance }: Settings,
): Promise<ExaminedKeys> {
  const { publicKeysUrl, issuer = [], algorithms } = entry
  const [only] = issuer
  // One time limit for both steps, as in the guard.
  const exchange = new Exchange(MAX_KEYS_BYTES, keysTimeout)
  const clock = () => examineClock(entry.name, exchange, clockTolerance)
  if (publicKeysUrl !== undefined) {
    const [first, told] = await Promise.all([
      keysAt(publicKeysUrl, 'public_keys_url', exchange, algorithms),
      issuer.length === 1 ? toldBeside(String(only), keysTimeout) : [],
    ])
    return { ...first, findings: [...told, ...first.findings, ...clock()] }
  }
  const iss = String(only)
  let metadata: unknown
  try {
    metadata = await readMetadata(iss, exchange.limits)
  } catch (error) {
    const fetched = { what: 'discovery', url: iss, setting: 'issuer', limit: 'keys_timeout' }
    const { level, what, cure = '' } = fetchFinding(fetched, error, exchange)
    return { findings: [{ level, what, cure: `${cure}; or give public_keys_url` }] }
  }
  let jwksUri: string
  try {
    jwksUri = jwksUriOf(metadata, iss)
  } catch (error) {
    return { findings: [metadataFinding(metadata, iss, error)] }
  }
  const keys = await keysAt(jwksUri, "jwks_uri in the server's metadata", exchange, algorithms)
  return { ...keys, findings: [...examineMetadata(metadata), ...keys.findings, ...clock()] }
}

async function keysAt(
  url: string,
  setting: string,
  exchange: Exchange,
  algorithms: readonly string[],
): Promise<ExaminedKeys> {
  try {
    const jwks = await fetchJson(url, exchange.limits)
    return examineKeys(jwks, `keys at ${redactUrl(url)}`, algorithms)
  } catch (error) {
    const fetched = { what: 'keys', url, setting, limit: 'keys_timeout' }
    return { findings: [fetchFinding(fetched, error, exchange)] }
  }
}

/** Where the keys have an address of their own, metadata need not be there. */
async function toldBeside(issuer: string, timeout: number): Promise<Finding[]> {
  if (!isDiscoverable(issuer)) return []
  const exchange = new Exchange(MAX_KEYS_BYTES, timeout)
  const metadata = await readMetadata(issuer, exchange.limits).catch(() => undefined)
  return metadata === undefined ? [] : examineMetadata(metadata, issuer)
}

/** Why the guard does not take the metadata of an issuer (OpenID Connect Discovery 1.0 §4.3). */
function metadataFinding(metadata: unknown, issuer: string, error: unknown): Finding {
  const reason = reasonOf(error)
  const told = memberOf(metadata, 'issuer')
  if (told !== issuer && typeof told === 'string') {
    return wrong(`discovery: ${otherIssuer(told, issuer)}`, `write issuer = ${showValue(told)}`)
  }
  return wrong(
    `discovery: ${reason}`,
    reason.endsWith('that can be used')
      ? 'let the server name an https address there (http on loopback only)'
      : 'is it metadata of an authorization server? If it has none, give public_keys_url',
  )
}

/**
 * What the metadata of an issuer tell beside its keys.
 *
 * @param issuer given where the keys have an address of their own
 */
function examineMetadata(metadata: unknown, issuer?: string): Finding[] {
  const told = memberOf(metadata, 'issuer')
  if (issuer !== undefined && typeof told === 'string' && told !== issuer) {
    const cure = `write issuer = ${showValue(told)} if the tokens name that one`
    return [doubtful(`discovery: ${otherIssuer(told, issuer)}`, cure)]
  }
  const endpoint = memberOf(metadata, 'introspection_endpoint')
  const address = typeof endpoint === 'string' && isSecureUrl(endpoint) ? redactUrl(endpoint) : null
  const offered =
    address === null
      ? 'none is offered, so that tokens must be JWTs'
      : `offered at ${address}; tokens that are no JWTs need the option opaqueToken in code`
  return [fine('discovery: the metadata are there'), fine(`introspection: ${offered}`)]
}

function otherIssuer(told: string, issuer: string): string {
  const difference = spellingDifference(told, issuer)
  const why = difference === null ? '' : ` (they differ in ${difference})`
  return `the server calls itself ${showValue(told)}, and the configuration ${showValue(issuer)}${why}`
}

function memberOf(metadata: unknown, name: string): unknown {
  return isObject(metadata) ? ownProperty(metadata, name) : undefined
}

/** `Date` counts whole seconds (RFC 9110 §5.6.7). */
const SECOND = 1000

const CLOCK_CURE = 'set both clocks by NTP; clock_tolerance is for seconds only'

/**
 * The clock of a server against that of this machine. Ahead, its fresh tokens are issued in the
 * future; behind, they end early.
 *
 * @param tolerance seconds
 */
export function examineClock(
  server: string,
  { head, beganAt, answeredAt }: Exchange,
  tolerance: number,
): Finding[] {
  const date = head?.date ?? Number.NaN
  if (Number.isNaN(date)) return []
  const ahead = (date - answeredAt) / SECOND
  const behind = (beganAt - date - SECOND) / SECOND
  if (ahead > tolerance) {
    return [
      wrong(`the clock of ${server} is ${Math.round(ahead)} seconds ahead of here`, CLOCK_CURE),
    ]
  }
  if (behind > tolerance) {
    return [
      doubtful(`the clock of ${server} is ${Math.round(behind)} seconds behind here`, CLOCK_CURE),
    ]
  }
  return [fine(`the clock of ${server} agrees with that of this machine`)]
}
