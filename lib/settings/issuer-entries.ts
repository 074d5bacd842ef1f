import type { IssuerEntry } from '../authentication/issuer-entry.ts'
import { asList } from './as-list.ts'
import { copyOfKeys } from './copy-of-keys.ts'
import type { IssuerRules, ListedIssuer } from './issuer-rules.ts'
import type { OptionName, Settings } from './options.ts'

/** The options that the rules of an issuer fall back to. */
export type Fallbacks = Pick<Settings, 'audience' | 'algorithms' | 'tokenTypes' | 'mapClaims'>

/** The entry of an issuer that has rules of its own. */
export function listedEntry(rules: ListedIssuer, options: Fallbacks): IssuerEntry {
  return entryOf({ ...rules, issuer: asList(rules.issuer) }, options)
}

/** The one entry where the options themselves are the rules. */
export function optionsEntry(settings: Settings, given: ReadonlySet<OptionName>): IssuerEntry {
  const { issuer, publicKeys, publicKeysUrl } = settings
  const rules = { issuer: asList(issuer), tenants: '*' } as const
  if (publicKeys) return entryOf({ ...rules, publicKeys }, settings)
  const isDiscovered = issuer !== undefined && !given.has('publicKeysUrl')
  return entryOf(isDiscovered ? rules : { ...rules, publicKeysUrl }, settings)
}

interface EntryRules extends Omit<IssuerRules, 'issuer'> {
  readonly issuer: readonly string[] | undefined
}

/** Copied and frozen: what decides must be the same for each request. */
function entryOf(rules: EntryRules, options: Fallbacks): IssuerEntry {
  const { name, issuer, tenants, publicKeys } = rules
  return Object.freeze({
    name: name ?? nameOf(issuer),
    issuer,
    tenants: tenants === '*' ? tenants : Object.freeze([...tenants]),
    audience: asList(rules.audience ?? options.audience),
    publicKeys: publicKeys && copyOfKeys(publicKeys),
    publicKeysUrl: rules.publicKeysUrl,
    algorithms: Object.freeze([...(rules.algorithms ?? options.algorithms)]),
    tokenTypes: asList(rules.tokenTypes ?? options.tokenTypes),
    mapClaims: rules.mapClaims ?? options.mapClaims,
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
