import { isWithin, lettersOf } from './look-alike.ts'

/** The sections that are ours. All others belong to the application. */
export type SectionName = 'auth' | 'tenants'

const OURS: readonly SectionName[] = ['auth', 'tenants']

export function isOurs(name: string): name is SectionName {
  return OURS.some((ours) => ours === name)
}

/** A name that is nearly one of ours. */
export interface Resemblance {
  readonly ours: SectionName
  /**
   * `spelling`: the same word, spelt in another way, or a subsection of it.
   * `letter`: one letter differs, as in `[oauth]`, which may be a word of the application.
   */
  readonly by: 'spelling' | 'letter'
}

/** Which section a name may have been meant for. One rule for each kind of slip. */
export function resemblanceOf(name: string): Resemblance | null {
  const sameWord = OURS.find((ours) => isSameWord(lettersOf(firstPart(name)), ours))
  if (sameWord !== undefined) return { ours: sameWord, by: 'spelling' }
  const oneLetterOff = OURS.find((ours) => isWithin(1, lettersOf(name), ours))
  return oneLetterOff === undefined ? null : { ours: oneLetterOff, by: 'letter' }
}

/** `auth` of `auth.x`, `"auth"`, `auth:x` and `auth[x]`. */
function firstPart(name: string): string {
  const parts = name.normalize('NFKC').split(/[.:/\\[\]"']/)
  return parts.find((part) => part.trim() !== '') ?? ''
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
