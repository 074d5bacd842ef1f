import type { IssuerEntry } from '../authentication/issuer-entry.ts'
import { isObject } from '../outside/is-object.ts'
import { Unusable, unexpected } from '../outside/unusable.ts'
import { checkIssuer } from './check-issuers.ts'
import { type Fallbacks, listedEntry } from './issuer-entries.ts'
import { Problems } from './problems.ts'
import { WrittenIssuer } from './written-issuer.ts'

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
  const written = WrittenIssuer.ofObject(answer, placeOf('answer'), placeOf, problems)
  if (!written.has('issuer')) {
    written.take({ name: 'issuer', value: iss, written: iss, source: placeOf('issuer') })
  }
  checkIssuer(written, settings.audience !== undefined, problems)
  if (problems.first !== undefined) throw new Unusable(problems.first)
  const rules = written.listed
  if (rules.issuer === iss) return listedEntry(rules, settings)
  throw new Unusable('issuer: expected the one that was asked for, found another one')
}
