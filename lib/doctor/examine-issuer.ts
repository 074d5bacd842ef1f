import type { IssuerEntry } from '../authentication/issuer-entry.ts'
import { isDiscoverable, jwksUriOf, readMetadata } from '../keys/discovery.ts'
import { MAX_KEYS_BYTES } from '../keys/fetched-keys.ts'
import { fetchJson } from '../outside/fetch-json.ts'
import { shownAddress } from '../outside/protected-address.ts'
import type { Settings } from '../settings/options.ts'
import { examineClock } from './examine-clock.ts'
import { type ExaminedKeys, examineKeys } from './examine-keys.ts'
import { examineMetadata, metadataFinding } from './examine-metadata.ts'
import { Exchange } from './exchange.ts'
import { fetchFinding } from './fetch-cures.ts'
import type { Finding } from './finding.ts'

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
    return examineKeys(jwks, `keys at ${shownAddress(url)}`, algorithms)
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
