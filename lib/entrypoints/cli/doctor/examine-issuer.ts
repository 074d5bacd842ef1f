import type { Settings } from '../../../config/options.ts'
import { showValue } from '../../../config/redact.ts'
import type { IssuerEntry } from '../../../identity/authentication/issuer.ts'
import { isDiscoverable, jwksUriOf, readMetadata } from '../../../identity/jwks/discovery.ts'
import { MAX_KEYS_BYTES } from '../../../identity/jwks/fetch-jwks.ts'
import type { KeyFlaw, VerificationKey } from '../../../identity/jwks/jwk.ts'
import {
  areTestKeys,
  type KeySet,
  readKeySet,
  readMembers,
} from '../../../identity/jwks/jwk-set.ts'
import { asksForProof } from '../../../identity/jwt/confirmation.ts'
import { reasonOf } from '../../../platform/http/failure.ts'
import { fetchJson } from '../../../platform/http/fetch-json.ts'
import { isSecureUrl, redactUrl } from '../../../platform/http/urls.ts'
import { ownMember } from '../../../platform/runtime/own-property.ts'
import { Exchange, fetchFinding } from './fetch-advice.ts'
import { doubtful, type Finding, fine, spellingDifference, wrong } from './finding.ts'

interface Examination {
  readonly findings: readonly Finding[]
  /** Undefined: they cannot be used. */
  readonly keys?: KeySet
}

export async function examineIssuer(
  entry: IssuerEntry,
  { keysTimeout, clockTolerance, confirmation }: Settings,
): Promise<Examination> {
  const { publicKeysUrl, issuer = [], algorithms } = entry
  const iss = String(issuer[0])
  // One time limit for both steps, as in the guard.
  const exchange = new Exchange(MAX_KEYS_BYTES, keysTimeout)
  const clock = () => examineClock(entry.name, exchange, clockTolerance)
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

const FLAWS: Readonly<Record<KeyFlaw, string>> = {
  malformed: 'export the key from the server anew',
  symmetric: 'let the server sign with an asymmetric key, such as RS256; this one is no secret now',
  private: 'publish the public half only, and replace the key: it is no secret any more',
  'for encryption': 'let the server publish the key that signs: "use" must be "sig"',
  'not for verifying': 'let "use" be "sig", and "key_ops", if given, name "verify"',
  'of an unknown type': 'let the server sign with an RSA, EC or Ed25519 key',
  'for no known algorithm': 'let the server sign with an algorithm that this Node has',
  'too weak': 'make a new key at the server: RSA with 2048 bits or more, or ES256',
  'too costly': 'make a smaller key at the server: RSA with 2048 to 8192 bits',
}

const SET_CURES: readonly (readonly [reason: RegExp, cure: string])[] = [
  [/discovery document/, 'write its issuer as issuer without public_keys_url, or that jwks_uri'],
  [/too many members/, 'let the server publish the keys that are in use only, 100 at most'],
  [/set is too costly/, 'let it publish 10 keys on P-521 or 21 on P-384 at most, or use ES256'],
  [/0 members/, 'the server has no key yet: make it one that signs'],
]

const NO_SET = 'public_keys_url must be the jwks_uri of the server: an object with a list "keys"'

export function examineKeys(
  jwks: unknown,
  where: string,
  algorithms: readonly string[],
): Examination {
  let members: readonly (VerificationKey | KeyFlaw)[] = []
  let keys: KeySet
  try {
    members = readMembers(jwks)
    keys = readKeySet(jwks)
  } catch (error) {
    const reason = reasonOf(error)
    const [, cure] = SET_CURES.find(([pattern]) => pattern.test(reason)) ?? []
    const flaws = flawsOf(members, jwks)
    const named = flaws.filter(({ kids }) => kids.length > 0)
    const words = named.map(({ flaw, kids }) => `${flaw}: ${kids.join(', ')}`).join('; ')
    const cures = flaws.map(({ flaw }) => FLAWS[flaw]).join('; ')
    const what = `${where}: ${reason}${words === '' ? '' : ` (${words})`}`
    return { findings: [wrong(what, cure ?? (cures || NO_SET))] }
  }
  const usable = members.flatMap((each) => (typeof each === 'object' ? [...each.algorithms] : []))
  // A key for encryption beside the others is usual.
  const odd = flawsOf(members, jwks).filter(({ flaw }) => flaw !== 'for encryption')
  const findings = [
    algorithmFinding(where, [...new Set(usable)], algorithms),
    ...odd.flatMap(({ flaw, kids, hasNameless }) =>
      [...kids.map((kid) => `the key ${kid}`), ...(hasNameless ? ['a key'] : [])].map((key) =>
        doubtful(`${where}: ${key} is passed over, since it is ${flaw}`, FLAWS[flaw]),
      ),
    ),
    ...(areTestKeys(keys) ? [TEST_KEYS] : []),
  ]
  return { findings, keys }
}

/** Each flaw with the names of the keys that have it, fit for a terminal. */
function flawsOf(members: readonly (VerificationKey | KeyFlaw)[], jwks: unknown) {
  const given = ownMember(jwks, 'keys')
  const jwkList: readonly unknown[] = Array.isArray(given) ? given : []
  const flaws = [...new Set(members.filter((each) => typeof each === 'string'))]
  return flaws.map((flaw) => {
    const kids = jwkList.flatMap((jwk, i) => (members[i] === flaw ? [ownMember(jwk, 'kid')] : []))
    const names = kids.filter((kid) => typeof kid === 'string')
    const hasNameless = names.length < kids.length
    return { flaw, kids: [...new Set(names.map(showValue))], hasNameless }
  })
}

const TEST_KEYS = doubtful(
  'the keys are those of a test authority (npx fastify-tenant-auth authority)',
  'name the issuer of production instead, before strangers can reach the application',
)

function algorithmFinding(
  where: string,
  usable: readonly string[],
  allowed: readonly string[],
): Finding {
  const both = usable.filter((name) => allowed.includes(name))
  if (both.length > 0) return fine(`${where}: usable, for ${both.join(', ')}`)
  return wrong(
    `${where}: no key fits the allowed algorithms ${allowed.join(', ')}; they are for ${usable.join(', ')}`,
    'name the one that the server signs with in algorithms, or take that option away',
  )
}
