import type { Settings } from '../../../config/options.ts'
import { showValue } from '../../../config/redact.ts'
import type { IssuerEntry } from '../../../identity/authentication/issuer.ts'
import { isDiscoverable, jwksUriOf, readMetadata } from '../../../identity/jwks/discovery.ts'
import { MAX_KEYS_BYTES } from '../../../identity/jwks/fetch-jwks.ts'
import { asksForProof } from '../../../identity/jwt/confirmation.ts'
import { reasonOf } from '../../../platform/http/failure.ts'
import { fetchJson } from '../../../platform/http/fetch-json.ts'
import { isSecureUrl, redactUrl } from '../../../platform/http/urls.ts'
import { ownMember } from '../../../platform/runtime/own-property.ts'
import { type Examination, examineKeys } from './examine-keys.ts'
import { Exchange, fetchFinding } from './fetch-advice.ts'
import { doubtful, type Finding, fine, spellingDifference, wrong } from './finding.ts'

export async function examineIssuer(
  entry: IssuerEntry,
  { keysTimeout, clockTolerance, confirmation }: Settings,
): Promise<Examination> {
  const { publicKeysUrl, issuer = [], algorithms } = entry
  const iss = String(issuer[0])
  // One time limit for both steps, as in the guard.
  const exchange = new Exchange(MAX_KEYS_BYTES, keysTimeout)
  // Without an issuer, or with several, the entry has no name of its own.
  const server =
    issuer.length === 1 || publicKeysUrl === undefined ? entry.name : new URL(publicKeysUrl).host
  const clock = () => examineClock(server, exchange, clockTolerance)
  if (publicKeysUrl !== undefined) {
    const [keys, metadata] = await Promise.all([
      keysAt(publicKeysUrl, 'public_keys_url', exchange, algorithms),
      issuer.length === 1 ? examineOptionalMetadata(iss, keysTimeout, confirmation) : [],
    ])
    return { ...keys, findings: [...metadata, ...keys.findings, ...clock()] }
  }
  let metadata: unknown
  try {
    metadata = await readMetadata(iss, exchange.limits)
  } catch (error) {
    const source = { what: 'discovery', url: iss, setting: 'issuer', limit: 'keys_timeout' }
    const { level, what, cure = '' } = fetchFinding(source, error, exchange)
    return { findings: [{ level, what, cure: `${cure}; or give public_keys_url` }] }
  }
  let jwksUri: string
  try {
    jwksUri = jwksUriOf(metadata, iss)
  } catch (error) {
    return { findings: [metadataFinding(metadata, iss, error)] }
  }
  const keys = await keysAt(jwksUri, "jwks_uri in the server's metadata", exchange, algorithms)
  return {
    ...keys,
    findings: [...examineMetadata(metadata, confirmation), ...keys.findings, ...clock()],
  }
}

async function keysAt(
  url: string,
  setting: string,
  exchange: Exchange,
  algorithms: readonly string[],
): Promise<Examination> {
  try {
    const jwks = await fetchJson(url, exchange.limits)
    return examineKeys(jwks, `keys at ${redactUrl(url)}`, algorithms)
  } catch (error) {
    const source = { what: 'keys', url, setting, limit: 'keys_timeout' }
    return { findings: [fetchFinding(source, error, exchange)] }
  }
}

/** If the keys have an address of their own, the metadata may be missing. */
async function examineOptionalMetadata(
  issuer: string,
  timeout: number,
  confirmation: Settings['confirmation'],
): Promise<Finding[]> {
  if (!isDiscoverable(issuer)) return []
  const exchange = new Exchange(MAX_KEYS_BYTES, timeout)
  const metadata = await readMetadata(issuer, exchange.limits).catch(() => undefined)
  return metadata === undefined ? [] : examineMetadata(metadata, confirmation, issuer)
}

function metadataFinding(metadata: unknown, issuer: string, error: unknown): Finding {
  const reason = reasonOf(error)
  const named = ownMember(metadata, 'issuer')
  if (named !== issuer && typeof named === 'string') {
    return wrong(`discovery: ${otherIssuer(named, issuer)}`, otherIssuerCure(named))
  }
  return wrong(
    `discovery: ${reason}`,
    reason.endsWith('that can be used')
      ? 'let the server name an https address there (http on loopback only)'
      : 'is it metadata of an authorization server? If it has none, give public_keys_url',
  )
}

/** @param issuer given if the keys have an address of their own */
function examineMetadata(
  metadata: unknown,
  confirmation: Settings['confirmation'],
  issuer?: string,
): Finding[] {
  const named = ownMember(metadata, 'issuer')
  if (issuer !== undefined && typeof named === 'string' && named !== issuer) {
    const cure = otherIssuerCure(named, ' if the tokens name that one')
    return [doubtful(`discovery: ${otherIssuer(named, issuer)}`, cure)]
  }
  const endpoint = ownMember(metadata, 'introspection_endpoint')
  const offer =
    typeof endpoint === 'string' && isSecureUrl(endpoint)
      ? `offered at ${redactUrl(endpoint)}; tokens that are no JWTs need the option opaqueToken in code`
      : 'none is offered, so that tokens must be JWTs'
  return [
    fine('discovery: the metadata are there'),
    fine(`introspection: ${offer}`),
    ...examineBinding(metadata, confirmation),
  ]
}

/** The bindings that a server offers for tokens (RFC 9449 §5.1, RFC 8705 §3.3). */
function examineBinding(metadata: unknown, confirmation: Settings['confirmation']): Finding[] {
  const algorithms = ownMember(metadata, 'dpop_signing_alg_values_supported')
  const hasDpop = Array.isArray(algorithms) && algorithms.length > 0
  const hasMtls = ownMember(metadata, 'tls_client_certificate_bound_access_tokens') === true
  const ways = [...(hasDpop ? ['DPoP'] : []), ...(hasMtls ? ['client certificates'] : [])]
  if (ways.length === 0) return confirmation === 'require' ? [UNBOUND] : []
  const what = `bound tokens: offered, by ${ways.join(' and ')}`
  if (asksForProof(confirmation)) return [fine(what)]
  const cure = 'confirmation = check takes them with a proof'
  return [fine(`${what}; confirmation is ${confirmation}, and ${cure}`)]
}

const UNBOUND = doubtful(
  'bound tokens: the metadata offer none, and confirmation is require',
  'let the server bind its tokens, or write confirmation = check',
)

function otherIssuer(named: string, issuer: string): string {
  const difference = spellingDifference(named, issuer)
  const why = difference === null ? '' : ` (they differ in ${difference})`
  return `the server calls itself ${showValue(named)}, and the configuration ${showValue(issuer)}${why}`
}

function otherIssuerCure(named: string, condition = ''): string {
  // As that of Microsoft Entra ID for all directories: `https://…/{tenantid}/v2.0`.
  return named.includes('{') ? TEMPLATE : `write issuer = ${showValue(named)}${condition}`
}

const TEMPLATE =
  'that is a template for many tenants: issuer has to list that of each, as its tokens name it'

/** Seconds: tokens of a server that is so far behind may be over when they come. */
const FAR_BEHIND = 600

const CLOCK_CURE = 'set both clocks by NTP; clock_tolerance is for seconds only'

/**
 * Compares the clock of a server with that of this machine. If it is ahead, fresh tokens are issued
 * in the future; if it is behind, they end early.
 *
 * @param tolerance seconds
 */
export function examineClock(
  server: string,
  { date, beganAt, answeredAt }: Exchange,
  tolerance: number,
): Finding[] {
  if (Number.isNaN(date)) return []
  const ahead = (date - answeredAt) / 1000
  // `Date` counts whole seconds (RFC 9110 §5.6.7).
  const behind = (beganAt - date) / 1000 - 1
  const finding = (seconds: number, words: string): string =>
    `the clock of ${server} is ${Math.round(seconds)} seconds ${words} here`
  if (ahead > tolerance) return [wrong(finding(ahead, 'ahead of'), CLOCK_CURE)]
  if (behind + 1 >= FAR_BEHIND) return [wrong(finding(behind, 'behind'), CLOCK_CURE)]
  if (behind > tolerance) return [doubtful(finding(behind, 'behind'), CLOCK_CURE)]
  return [fine(`the clock of ${server} agrees with that of this machine`)]
}
