import { parseIssuerRules } from './config/issuer-config.ts'
import type { LoadedSettings } from './config/load-settings.ts'
import type { Settings } from './config/options.ts'
import { DynamicIssuers } from './identity/authentication/dynamic-issuers.ts'
import { Issuer, type IssuerEntry, type TrustRules } from './identity/authentication/issuer.ts'
import { type Issuers, ListedIssuers } from './identity/authentication/issuers.ts'
import type { VerifiedTokens } from './identity/authentication/verified-tokens.ts'
import { ExternalRights } from './identity/authorization/external-rights.ts'
import type { ResourcesOf } from './identity/authorization/resources.ts'
import {
  type KeySource,
  RemoteKeys,
  type RemoteKeysOptions,
  StaticKeys,
} from './identity/jwks/key-source.ts'
import { acceptedTypes } from './identity/jwt/verify.ts'
import type { OperatorLog } from './operator-log.ts'
import { FetchPlaces } from './platform/http/fetch-places.ts'

export function composeIssuers(
  loaded: LoadedSettings,
  {
    tokens,
    rights,
  }: { readonly tokens: VerifiedTokens; readonly rights: ExternalRights | undefined },
  log: OperatorLog,
): Issuers {
  const { settings, issuers } = loaded
  const report = log.callback('mapClaims')
  const ownRights = ({ resourcesOf }: IssuerEntry) =>
    typeof resourcesOf === 'function' ? externalRights(resourcesOf, loaded, log) : undefined
  const rulesOf = (entry: IssuerEntry, own: ExternalRights | undefined) => {
    const external = entry.resourcesOf === 'claims' ? undefined : (own ?? rights)
    return issuerRules(entry, loaded, external, report)
  }
  const places = new FetchPlaces()
  if (typeof issuers !== 'function') {
    return new ListedIssuers(
      issuers.map((entry) => {
        // An issuer that may speak for every tenant is the operator's own.
        const fetching = { places, isLazy: false, isOwn: entry.tenants === '*' }
        const keys = composeKeys(entry, settings, fetching, log)
        return new Issuer(keys, rulesOf(entry, ownRights(entry)), tokens)
      }),
    )
  }
  const { tenantsTimeout, issuersMax, issuersMaxAge, allowPrivateIssuers } = settings
  const { keysMaxStale, keysCooldown } = settings
  const fetching = { places, isLazy: true, isUntrusted: true, publicOnly: !allowPrivateIssuers }
  return new DynamicIssuers({
    ask: issuers,
    read: (iss, answer) => parseIssuerRules(iss, answer, settings, loaded.addresses),
    keysOf: (entry) => composeKeys(entry, settings, fetching, log),
    rightsOf: ownRights,
    issuerOf: (entry, { keys, rights: own }, standing) =>
      new Issuer(keys, rulesOf(entry, own), tokens, standing),
    report: log.callback('issuers'),
    warn: (reason) => log.warn(reason),
    issuersMax,
    timeout: tenantsTimeout,
    maxAge: issuersMaxAge,
    maxStale: keysMaxStale,
    cooldown: keysCooldown,
  })
}

/** A fetch waits for its place for at most this many times `keysTimeout`. */
const PATIENCE = 4

/** Frozen. Its sets are not exposed: each request is decided by the same rules. */
function issuerRules(
  entry: IssuerEntry,
  { settings, rights, addresses }: LoadedSettings,
  external: ExternalRights | undefined,
  reportMapClaims: TrustRules['reportMapClaims'],
): TrustRules {
  const { name, issuer, audience, algorithms, tokenTypes, mapClaims, tenants } = entry
  const { clockTolerance, confirmation } = settings
  return Object.freeze({
    name,
    issuer,
    audience,
    algorithms: new Set(algorithms),
    tokenTypes: new Set(acceptedTypes(tokenTypes)),
    mapClaims,
    tenants: tenants === '*' ? tenants : new Set(tenants),
    clockTolerance,
    confirmation,
    reportMapClaims,
    external,
    addresses,
    ...rights,
  })
}

/** Rights by a function, with places and a line of its own. */
export function externalRights(
  resourcesOf: ResourcesOf,
  { settings, rights }: LoadedSettings,
  log: OperatorLog,
  hasSeveralIssuers = false,
): ExternalRights {
  const { resourcesMaxAge: maxAge, tenantsTimeout: timeout } = settings
  const report = log.callback('resourcesOf')
  return new ExternalRights({ ...rights, resourcesOf, timeout, maxAge, report, hasSeveralIssuers })
}

function composeKeys(
  { keySet, publicKeysUrl, issuer, name }: IssuerEntry,
  settings: Settings,
  fetching: Pick<RemoteKeysOptions, 'places' | 'isLazy' | 'isOwn' | 'isUntrusted' | 'publicOnly'>,
  log: OperatorLog,
): KeySource {
  if (keySet !== undefined) return new StaticKeys(keySet)
  const { keysTimeout: timeout, keysMaxAge: maxAge, keysMaxStale: maxStale } = settings
  const { keysCooldown: cooldown, keysRetry: retry } = settings
  const location =
    publicKeysUrl === undefined ? { issuer: String(issuer?.[0]) } : { url: publicKeysUrl }
  const patience = PATIENCE * timeout
  const freshness = { timeout, patience, maxAge, maxStale, retry, retryMax: cooldown }
  return new RemoteKeys({ location, cooldown, ...freshness, ...fetching }, log.keys(name))
}
