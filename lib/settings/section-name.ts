import { isWithin, lettersOf } from './look-alike.ts'

/** The sections of options. */
export type OptionSection = 'auth' | 'tenants'

/** The section of an issuer. */
export type IssuerSection = `auth.${string}`

/** The sections that are ours. All others belong to the application. */
export type SectionName = OptionSection | IssuerSection

/** Our sections, as a message names them. */
export const OUR_SECTIONS = '[auth], [auth.NAME] or [tenants]'

const WORDS: readonly OptionSection[] = ['auth', 'tenants']

export function isOurs(name: string): name is SectionName {
  return isOptionSection(name) || isIssuerSection(name)
}

export function isOptionSection(name: string): name is OptionSection {
  return WORDS.some((word) => word === name)
}

function isIssuerSection(name: string): name is IssuerSection {
  return /^auth\.[\w.-]{1,64}$/.test(name)
}

/** A name that is nearly one of ours. */
export interface Resemblance {
  readonly ours: OptionSection | 'auth.NAME'
  /**
   * `spelling`: the same word, spelt in another way, or a subsection of it.
   * `letter`: one letter differs, as in `[oauth]`, which may be a word of the application.
   */
  readonly by: 'spelling' | 'letter'
}

/** Which section a name may have been meant for. One rule for each kind of slip. */
export function resemblanceOf(name: string): Resemblance | null {
  for (const separator of [BETWEEN_PARTS, BETWEEN_WORDS]) {
    const { first, isAlone } = partsOf(name, separator)
    const word = WORDS.find((each) => isSameWord(lettersOf(first), each))
    if (word === 'auth' && !isAlone) return { ours: 'auth.NAME', by: 'spelling' }
    if (word !== undefined) return { ours: word, by: 'spelling' }
  }
  const { first } = partsOf(name, BETWEEN_PARTS)
  const oneLetterOff = WORDS.find((word) => isWithin(1, lettersOf(first), word))
  return oneLetterOff === undefined ? null : { ours: oneLetterOff, by: 'letter' }
}

/** As in `auth.x`, `"auth"`, `auth:x` and `auth[x]`. */
const BETWEEN_PARTS = /[.:/\\[\]"']/

/** As in `auth x` and `auth|x`. What nobody sees separates nothing. */
const BETWEEN_WORDS = /[^\p{L}\p{M}\p{N}\p{DI}_-]/u

function partsOf(name: string, separator: RegExp): { first: string; isAlone: boolean } {
  const parts = name.normalize('NFKC').split(separator)
  const [first = '', second] = parts.filter((part) => lettersOf(part) !== '')
  return { first, isAlone: second === undefined }
}

function isSameWord(letters: string, ours: string): boolean {
  return letters === ours || isAnagramOneSwapAway(letters, ours) || looksLike(letters, ours)
}

function isAnagramOneSwapAway(letters: string, ours: string): boolean {
  const sorted = (text: string): string => [...text].sort().join('')
  return isWithin(1, letters, ours) && sorted(letters) === sorted(ours)
}

/**
 * A letter beyond ASCII may look like any of ours. A word without a Latin letter is another word.
 */
function looksLike(letters: string, ours: string): boolean {
  const each = [...letters]
  return (
    each.length === ours.length &&
    each.every((letter, i) => letter === ours[i] || letter > '\x7f') &&
    /\p{Script=Latin}/u.test(letters)
  )
}
