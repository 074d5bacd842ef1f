import { isDiscoverable } from '../keys/discovery.ts'
import { ownProperty } from '../outside/own-property.ts'
import { asList } from './as-list.ts'
import type { GivenOptions } from './given-options.ts'
import { Rules } from './issuer-rules.ts'
import type { Settings } from './options.ts'
import type { Problems, Source } from './problems.ts'
import { showValue } from './shown-value.ts'
import type { WrittenIssuer } from './written-issuer.ts'

/** What the options for issuers must be together. Each by itself is right, or told of. */
export function checkIssuers(
  { sources, issuerLists }: GivenOptions,
  settings: Settings,
  problems: Problems,
): void {
  const own = sources.get('issuer')
  const hasKeys = sources.has('publicKeysUrl') || sources.has('publicKeys')
  if (sources.has('issuers')) refuseBoth(sources, problems)
  else if (own && !hasKeys && !settings.devMode) checkKeyless(settings.issuer, own, problems)
  const issuersMax = sources.get('issuersMax')
  if (issuersMax && typeof settings.issuers !== 'function') {
    problems.add(issuersMax, 'a function in issuers beside it', 'none')
  }
  const resource = sources.get('resource')
  if (resource && !own && !sources.has('issuers')) {
    const hint = 'its clients must know whose tokens it accepts'
    problems.add(resource, 'issuer, or issuers (in the INI file [auth.NAME])', 'none', hint)
  }
  const isAudienceGiven = sources.has('audience') || sources.has('resource')
  for (const list of issuerLists) {
    for (const issuer of list) checkIssuer(issuer, isAudienceGiven, problems)
    refuseRepeated(list, problems)
  }
}

/** What the rules of one issuer must be together. */
export function checkIssuer(
  written: WrittenIssuer,
  isAudienceGiven: boolean,
  problems: Problems,
): void {
  for (const member of ['issuer', 'tenants'] as const) {
    if (written.has(member)) continue
    problems.add(written.sourceOf(member), expectedOf(member), 'none')
  }
  if (!written.has('audience') && !isAudienceGiven) {
    const hint = 'here, or as the option audience for all issuers, or by resource'
    problems.add(written.sourceOf('audience'), expectedOf('audience'), 'none', hint)
  }
  if (written.has('publicKeys') && written.has('publicKeysUrl')) {
    problems.add(written.sourceOf('publicKeys'), 'publicKeysUrl or publicKeys', 'both')
  } else if (!written.has('publicKeys') && !written.has('publicKeysUrl')) {
    checkDiscoverable(written.rules.issuer, written.sourceOf('issuer'), problems)
  }
}

function expectedOf(member: 'issuer' | 'tenants' | 'audience'): string {
  return String(ownProperty(Rules.properties[member], 'expected'))
}

/** Keys that the options name would be those of no issuer of the list. */
function refuseBoth(sources: GivenOptions['sources'], problems: Problems): void {
  const issuers = sources.get('issuers')?.key
  for (const option of ['issuer', 'publicKeysUrl', 'publicKeys'] as const) {
    const source = sources.get(option)
    if (source) problems.add(source, `${source.key} or ${issuers}`, 'both')
  }
}

/** The option `issuer` where no option says which keys are its own. */
function checkKeyless(issuer: Settings['issuer'], source: Source, problems: Problems): void {
  const [first, ...others] = asList(issuer) ?? []
  if (others.length === 0) {
    checkDiscoverable(first, source, problems)
  } else {
    const expected = `${KEYS_URL} beside several issuers, which share one key set`
    const cure = 'or, where each has keys of its own, issuers (in the INI file [auth.NAME])'
    problems.add(source, expected, 'none', cure)
  }
}

const KEYS_URL = 'publicKeysUrl (in the INI file public_keys_url)'

/** @param issuer undefined: it is told of already */
function checkDiscoverable(issuer: string | undefined, source: Source, problems: Problems): void {
  if (issuer === undefined || isDiscoverable(issuer)) return
  const expected = 'an https URL (http on loopback) without credentials, query and fragment'
  const hint = `no keys can be discovered there; give ${KEYS_URL}`
  problems.add(source, expected, showValue(issuer), hint)
}

function refuseRepeated(list: readonly WrittenIssuer[], problems: Problems): void {
  const seen = new Set<string>()
  for (const written of list) {
    const { issuer } = written.rules
    if (issuer === undefined) continue
    if (seen.has(issuer)) {
      problems.add(written.sourceOf('issuer'), 'each issuer once', `${showValue(issuer)} again`)
    }
    seen.add(issuer)
  }
}
