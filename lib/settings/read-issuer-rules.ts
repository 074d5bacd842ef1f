import type { IssuerEntry } from '../authentication/issuer-entry.ts'
import { isObject } from '../outside/is-object.ts'
import { checkIssuer } from './check-issuers.ts'
import { type Fallbacks, listedEntry } from './issuer-entries.ts'
import { Problems } from './problems.ts'
import { WrittenIssuer } from './written-issuer.ts'

/**
 * The entry of what a function in `issuers` answers of an issuer. Null: the issuer is unknown.
 * Undefined: the answer cannot be used, by the rules for a list, or is for another issuer.
 */
export function readIssuerRules(
  iss: string,
  answer: unknown,
  settings: Fallbacks,
): IssuerEntry | null | undefined {
  if (answer === null) return null
  if (!isObject(answer)) return undefined
  try {
    return readRules(iss, answer, settings)
  } catch {
    // The application's object may throw where it is read.
    return undefined
  }
}

function readRules(iss: string, answer: object, settings: Fallbacks): IssuerEntry | undefined {
  const placeOf = (key: string) => ({ key, where: 'answer' })
  const problems = new Problems()
  const written = WrittenIssuer.ofObject(answer, placeOf('answer'), placeOf, problems)
  if (!written.has('issuer')) {
    written.take({ name: 'issuer', value: iss, written: iss, source: placeOf('issuer') })
  }
  checkIssuer(written, settings.audience !== undefined, problems)
  if (problems.count > 0) return undefined
  const rules = written.listed
  return rules.issuer === iss ? listedEntry(rules, settings) : undefined
}
