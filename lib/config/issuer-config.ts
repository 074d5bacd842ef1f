import type { IssuerEntry } from '../identity/authentication/issuer.ts'
import { isDiscoverable } from '../identity/jwks/discovery.ts'
import { type KeySet, NO_KEYS } from '../identity/jwks/jwk-set.ts'
import type { TenantAddresses } from '../identity/tenants/tenant-addresses.ts'
import { Unusable, unexpected } from '../platform/http/failure.ts'
import { isObject } from '../platform/runtime/own-property.ts'
import { type IssuerRules, Rules } from './issuer-schema.ts'
import { OptionReader } from './option-reader.ts'
import type { Options, Settings } from './options.ts'
import { Problems } from './problems.ts'
import { showValue } from './redact.ts'

export type OptionsReader = OptionReader<typeof Options.properties>

export type IssuerReader = OptionReader<typeof Rules.properties>

/**
 * Checks the options for issuers together. Each by itself is right, or reported already.
 *
 * @param issuerLists the sections of an INI file, and the list in code
 */
export function checkIssuers(
  options: OptionsReader,
  settings: Settings,
  issuerLists: readonly (readonly IssuerReader[])[],
): void {
  const hasKeys = options.has('publicKeysUrl') || options.has('publicKeys')
  if (options.has('issuers')) refuseBoth(options)
  else if (options.has('issuer') && !hasKeys && !settings.devMode) checkKeyless(options)
  if (options.keySet === NO_KEYS && !options.has('opaqueToken')) {
    refuseNoKeys(options, 'or, where no JWT is to count, opaqueToken beside it')
  }
  if (options.has('issuersMax') && typeof settings.issuers !== 'function') {
    options.refuse('issuersMax', 'a function in issuers beside it', 'none')
  }
  if (options.has('resource') && !options.has('issuer') && !options.has('issuers')) {
    const hint = 'its clients must know whose tokens it accepts'
    options.refuse('resource', 'issuer, or issuers (in the INI file [auth.NAME])', 'none', hint)
  }
  const isAudienceGiven = options.has('audience') || options.has('resource')
  for (const list of issuerLists) {
    for (const issuer of list) checkIssuer(issuer, isAudienceGiven)
    refuseRepeated(list)
  }
}

function checkIssuer(rules: IssuerReader, isAudienceGiven: boolean): void {
  if (!rules.has('issuer')) rules.refuseMissing('issuer')
  if (rules.keySet === NO_KEYS) refuseNoKeys(rules)
  if (!rules.has('tenants')) rules.refuseMissing('tenants')
  if (!rules.has('audience') && !isAudienceGiven) {
    rules.refuseMissing(
      'audience',
      'here, or as the option audience for all issuers, or by resource',
    )
  }
  if (rules.has('publicKeys') && rules.has('publicKeysUrl')) {
    rules.refuse('publicKeys', 'publicKeysUrl or publicKeys', 'both')
  } else if (!rules.has('publicKeys') && !rules.has('publicKeysUrl')) {
    checkDiscoverable(rules, rules.right.issuer)
  }
}

function refuseNoKeys(reader: OptionsReader | IssuerReader, hint?: string): void {
  const expected = String(reader.schemaOf('publicKeys')['expected'])
  reader.refuse('publicKeys', expected, 'an object: no usable key: 0 members', hint)
}

/** Keys in the options would belong to no issuer of the list. */
function refuseBoth(options: OptionsReader): void {
  const issuers = options.sourceOf('issuers').key
  for (const option of ['issuer', 'publicKeysUrl', 'publicKeys'] as const) {
    if (!options.has(option)) continue
    const expected = `${options.sourceOf(option).key} or ${issuers}`
    options.refuse(option, expected, 'both', 'each issuer of a list has its own')
  }
}

function checkKeyless(options: OptionsReader): void {
  const [first, ...others] = [options.right.issuer ?? []].flat()
  if (others.length === 0) {
    checkDiscoverable(options, first)
  } else {
    const expected = `${KEYS_URL} beside several issuers, which share one key set`
    const cure = 'or, where each has keys of its own, issuers (in the INI file [auth.NAME])'
    options.refuse('issuer', expected, 'none', cure)
  }
}

const KEYS_URL = 'publicKeysUrl (in the INI file public_keys_url)'

/** @param issuer undefined: it is reported already */
function checkDiscoverable(reader: OptionsReader | IssuerReader, issuer: string | undefined): void {
  if (issuer === undefined || isDiscoverable(issuer)) return
  const expected = 'an https URL (http on loopback) without credentials, query and fragment'
  const hint = `no keys can be discovered there; give ${KEYS_URL}`
  reader.refuse('issuer', expected, showValue(issuer), hint)
}

function refuseRepeated(list: readonly IssuerReader[]): void {
  const seen = new Set<string>()
  for (const rules of list) {
    const { issuer } = rules.right
    if (issuer === undefined) continue
    if (seen.has(issuer)) rules.refuse('issuer', 'each issuer once', `${showValue(issuer)} again`)
    seen.add(issuer)
  }
}

/** A token for such a tenant would count without a tenant, too, and any of that audience in it. */
export function refuseAddresses(
  reader: OptionsReader | IssuerReader,
  audiences: string | readonly string[] = [],
  addresses: TenantAddresses,
): void {
  for (const audience of [audiences].flat()) {
    if (addresses.tenantOf(audience) === undefined) continue
    reader.refuse('audience', 'none of the addresses of resource', showValue(audience))
  }
}

type Fallbacks = Pick<Settings, 'audience' | 'resource' | 'algorithms' | 'tokenTypes' | 'mapClaims'>

/** The rules of an issuer, or the options if they are the rules. */
interface EntryRules
  extends Omit<IssuerRules, 'name' | 'issuer' | 'publicKeysUrl' | 'resourcesOf'> {
  readonly name?: string | undefined
  readonly issuer?: string | readonly string[]
  readonly publicKeysUrl?: string | undefined
  readonly resourcesOf?: IssuerEntry['resourcesOf']
}

/**
 * The entry of an issuer. It is frozen, as its lists are, so that each request is decided by the
 * same rules.
 *
 * @param rules each member is its own: an inherited one would be of Object.prototype
 * @param keySet the keys of `publicKeys`
 */
export function issuerEntry(
  rules: EntryRules,
  settings: Fallbacks,
  keySet: KeySet | undefined,
): IssuerEntry {
  const { name, tenants, publicKeys, publicKeysUrl } = rules
  const issuer = asList(rules.issuer)
  return Object.freeze({
    name: name ?? nameOf(issuer),
    issuer,
    tenants,
    audience: asList(rules.audience ?? settings.audience),
    publicKeys: publicKeys && JSON.stringify(publicKeys),
    keySet,
    publicKeysUrl,
    algorithms: rules.algorithms ?? settings.algorithms,
    tokenTypes: rules.tokenTypes ?? settings.tokenTypes,
    mapClaims: rules.mapClaims ?? settings.mapClaims,
    resourcesOf: rules.resourcesOf,
  })
}

/** As `parseIssuerRules`; undefined: the answer cannot be used. */
export function readIssuerRules(
  iss: string,
  answer: unknown,
  settings: Fallbacks,
  addresses?: TenantAddresses,
): IssuerEntry | null | undefined {
  try {
    return parseIssuerRules(iss, answer, settings, addresses)
  } catch {
    // A getter of the application's object may throw.
    return undefined
  }
}

/**
 * The entry of an issuer by the answer of a function in `issuers`. Null: the issuer is unknown.
 *
 * @throws Unusable if the answer cannot be used, by the rules for a list, or is for another issuer;
 * and any error of a getter of the answer
 */
export function parseIssuerRules(
  iss: string,
  answer: unknown,
  settings: Fallbacks,
  addresses: TenantAddresses | undefined,
): IssuerEntry | null {
  if (answer === null) return null
  if (!isObject(answer)) throw unexpected('the answer', 'an object or null', answer)
  const placeOf = (key: string) => ({ key, where: 'answer' })
  const problems = new Problems()
  const reader = new OptionReader(Rules.properties, placeOf, problems)
  reader.takeObject(answer, placeOf('answer'))
  if (!reader.has('issuer')) reader.take('issuer', { value: iss, source: placeOf('issuer') })
  checkIssuer(reader, settings.audience !== undefined || settings.resource !== undefined)
  if (addresses !== undefined) refuseAddresses(reader, reader.right.audience, addresses)
  if (problems.first !== undefined) throw new Unusable(problems.first)
  const rules = reader.whole
  if (rules.issuer === iss) return issuerEntry(rules, settings, reader.keySet)
  throw new Unusable('issuer: expected the one that was asked for, found another one')
}

/**
 * The name of an issuer in a log: the host of its URL and the path, so that two realms of one host
 * differ, or the issuer itself.
 */
function nameOf([issuer, ...others]: readonly string[] = []): string {
  if (issuer === undefined || others.length > 0) return 'default'
  const { host, pathname } = URL.canParse(issuer) ? new URL(issuer) : { host: '', pathname: '' }
  const name = host === '' ? issuer : `${host}${pathname === '/' ? '' : pathname}`
  return name.replaceAll(/[^ -~]/g, '?').slice(0, 100)
}

/** A frozen list of an option that is one text, or a frozen list already. */
function asList(value: string | readonly string[] | undefined): readonly string[] | undefined {
  return typeof value === 'string' ? Object.freeze([value]) : value
}
