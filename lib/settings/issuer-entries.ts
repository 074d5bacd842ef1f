import type { IssuerEntry } from '../authentication/issuer-entry.ts'
import { isObject } from '../outside/is-object.ts'
import { Unusable, unexpected } from '../outside/unusable.ts'
import { checkIssuer } from './check-issuers.ts'
import { OptionReader } from './door-options.ts'
import { type IssuerRules, Rules } from './issuer-rules.ts'
import type { Settings } from './options.ts'
import { copyOfKeys } from './own-members.ts'
import { Problems } from './problems.ts'

/** The options that the rules of an issuer fall back to. */
export type Fallbacks = Pick<Settings, 'audience' | 'algorithms' | 'tokenTypes' | 'mapClaims'>

/** The rules of an issuer, or the options, where they are the rules. */
interface EntryRules extends Omit<IssuerRules, 'name' | 'issuer' | 'publicKeysUrl'> {
  readonly name?: string | undefined
  readonly issuer?: string | readonly string[]
  readonly publicKeysUrl?: string | undefined
}

/**
 * The entry of an issuer. It is frozen, as its lists are: what decides must be the same for each
 * request.
 *
 * @param rules each of its members is its own, since others would be those of Object.prototype
 */
export function issuerEntry(rules: EntryRules, settings: Fallbacks): IssuerEntry {
  const { name, tenants, publicKeys, publicKeysUrl } = rules
  const issuer = asList(rules.issuer)
  return Object.freeze({
    name: name ?? nameOf(issuer),
    issuer,
    tenants,
    audience: asList(rules.audience ?? settings.audience),
    publicKeys: publicKeys && copyOfKeys(publicKeys),
    publicKeysUrl,
    algorithms: rules.algorithms ?? settings.algorithms,
    tokenTypes: rules.tokenTypes ?? settings.tokenTypes,
    mapClaims: rules.mapClaims ?? settings.mapClaims,
  })
}

/**
 * As `judgeIssuerRules`; undefined: the answer cannot be used.
 */
export function readIssuerRules(
  iss: string,
  answer: unknown,
  settings: Fallbacks,
): IssuerEntry | null | undefined {
  try {
    return judgeIssuerRules(iss, answer, settings)
  } catch {
    // The application's object may throw where it is read.
    return undefined
  }
}

/**
 * The entry of what a function in `issuers` answers of an issuer. Null: the issuer is unknown.
 *
 * @throws Unusable where the answer cannot be used, by the rules for a list, or is for another
 * issuer; and what the application's object throws where it is read
 */
export function judgeIssuerRules(
  iss: string,
  answer: unknown,
  settings: Fallbacks,
): IssuerEntry | null {
  if (answer === null) return null
  if (!isObject(answer)) throw unexpected('the answer', 'an object or null', answer)
  const placeOf = (key: string) => ({ key, where: 'answer' })
  const problems = new Problems()
  const reader = new OptionReader(Rules.properties, placeOf, problems)
  reader.takeObject(answer, placeOf('answer'))
  if (!reader.has('issuer')) reader.take('issuer', { value: iss, source: placeOf('issuer') })
  checkIssuer(reader, settings.audience !== undefined)
  if (problems.first !== undefined) throw new Unusable(problems.first)
  const rules = reader.whole
  if (rules.issuer === iss) return issuerEntry(rules, settings)
  throw new Unusable('issuer: expected the one that was asked for, found another one')
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

/** A list of what an option says as one text, or as a list that is frozen already. */
function asList(value: string | readonly string[] | undefined): readonly string[] | undefined {
  return typeof value === 'string' ? Object.freeze([value]) : value
}
