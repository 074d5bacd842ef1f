import type { IssuerEntry } from '../authentication/issuer-entry.ts'
import { asList } from './as-list.ts'
import { copyOfKeys } from './copy-of-keys.ts'
import type { IssuerMember, IssuerRules, ListedIssuer } from './issuer-rules.ts'
import type { OptionName, Settings } from './options.ts'

/** The options that the rules of an issuer fall back to. */
export type Fallbacks = Pick<Settings, 'audience' | 'algorithms' | 'tokenTypes' | 'mapClaims'>

/** The entry of an issuer that has rules of its own. */
export function listedEntry(rules: ListedIssuer, options: Fallbacks): IssuerEntry {
  const { name, issuer, tenants, audience, publicKeys, publicKeysUrl, algorithms } = rules
  const { tokenTypes, mapClaims } = rules
  return entryOf({
    name,
    issuer: asList(issuer),
    tenants,
    audience: audience ?? options.audience,
    publicKeys,
    publicKeysUrl,
    algorithms: algorithms ?? options.algorithms,
    tokenTypes: tokenTypes ?? options.tokenTypes,
    mapClaims: mapClaims ?? options.mapClaims,
  })
}

/** The one entry where the options themselves are the rules. */
export function optionsEntry(settings: Settings, given: ReadonlySet<OptionName>): IssuerEntry {
  const { issuer, audience, publicKeys, algorithms, tokenTypes, mapClaims } = settings
  const isDiscovered = issuer !== undefined && !given.has('publicKeysUrl')
  const hasUrl = publicKeys === undefined && !isDiscovered
  const publicKeysUrl = hasUrl ? settings.publicKeysUrl : undefined
  return entryOf({
    name: undefined,
    issuer: asList(issuer),
    tenants: '*',
    audience,
    publicKeys,
    publicKeysUrl,
    algorithms,
    tokenTypes,
    mapClaims,
  })
}

/** Each member is there: what is absent would be read from Object.prototype. */
type EntryRules = {
  readonly [Member in Exclude<IssuerMember, 'issuer'>]: IssuerRules[Member] | undefined
} & Pick<IssuerEntry, 'issuer' | 'tenants' | 'algorithms'>

/** Copied and frozen: what decides must be the same for each request. */
function entryOf(rules: EntryRules): IssuerEntry {
  const { name, issuer, tenants, publicKeys } = rules
  return Object.freeze({
    name: name ?? nameOf(issuer),
    issuer,
    tenants: tenants === '*' ? tenants : Object.freeze([...tenants]),
    audience: asList(rules.audience),
    publicKeys: publicKeys && copyOfKeys(publicKeys),
    publicKeysUrl: rules.publicKeysUrl,
    algorithms: Object.freeze([...rules.algorithms]),
    tokenTypes: asList(rules.tokenTypes),
    mapClaims: rules.mapClaims,
  })
}

/**
 * Fit for a log: the host of an URL and its path, so that two realms of one host differ, or the
 * issuer itself.
 */
function nameOf([issuer, ...others]: readonly string[] = []): string {
  if (issuer === undefined || others.length > 0) return 'default'
  const { host, pathname } = URL.canParse(issuer) ? new URL(issuer) : { host: '', pathname: '' }
  const name = host === '' ? issuer : `${host}${pathname === '/' ? '' : pathname}`
  return name.replaceAll(/[^ -~]/g, '?').slice(0, 100)
}
