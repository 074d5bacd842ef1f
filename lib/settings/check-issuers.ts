import { isDiscoverable } from '../keys/discovery.ts'
import type { OptionReader } from './door-options.ts'
import type { Rules } from './issuer-rules.ts'
import type { Options, Settings } from './options.ts'
import { showValue } from './shown-value.ts'

/** The reader of the guard's options. */
export type OptionsReader = OptionReader<typeof Options.properties>

/** The reader of the rules of one issuer. */
export type IssuerReader = OptionReader<typeof Rules.properties>

/**
 * What the options for issuers must be together. Each by itself is right, or told of.
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

/** What the rules of one issuer must be together. */
export function checkIssuer(rules: IssuerReader, isAudienceGiven: boolean): void {
  if (!rules.has('issuer')) rules.refuseMissing('issuer')
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

/** Keys that the options name would be those of no issuer of the list. */
function refuseBoth(options: OptionsReader): void {
  const issuers = options.sourceOf('issuers').key
  for (const option of ['issuer', 'publicKeysUrl', 'publicKeys'] as const) {
    if (!options.has(option)) continue
    options.refuse(option, `${options.sourceOf(option).key} or ${issuers}`, 'both')
  }
}

/** The option `issuer` where no option says which keys are its own. */
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

/** @param issuer undefined: it is told of already */
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
