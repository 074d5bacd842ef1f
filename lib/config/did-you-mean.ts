/**
 * The letters and digits of a name. Case, accents, quotes, underscores, full-width forms and
 * invisible characters do not count.
 */
function lettersOf(name: string): string {
  return name
    .toLowerCase()
    .normalize('NFKD')
    .replace(/\p{DI}|[^\p{L}\p{N}]/gu, '')
}

/**
 * True: this many edits turn one text into the other. An edit adds, drops or replaces a letter, or
 * swaps two neighbours.
 */
export function isWithinEdits(edits: number, a: string, b: string): boolean {
  if (a === b) return true
  if (edits === 0 || Math.abs(a.length - b.length) > edits) return false
  let i = 0
  while (a[i] === b[i]) i++
  const isSwap = a.slice(i, i + 2) === `${b.charAt(i + 1)}${b.charAt(i)}`
  return (
    isWithinEdits(edits - 1, a.slice(i + 1), b.slice(i + 1)) ||
    isWithinEdits(edits - 1, a.slice(i + 1), b.slice(i)) ||
    isWithinEdits(edits - 1, a.slice(i), b.slice(i + 1)) ||
    (isSwap && isWithinEdits(edits - 1, a.slice(i + 2), b.slice(i + 2)))
  )
}

/** The place of a shared secret. */
export const SECRET_CURE =
  'tokens that are signed with a secret go to opaqueToken: sharedSecret(…) of fastify-tenant-auth/introspection'

/** The letters of options that other software has for ours. */
const NAMES_ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ['jwksuri', 'publickeysurl'],
  ['jwksurl', 'publickeysurl'],
  ['issuerurl', 'issuer'],
  ['domain', 'issuer'],
  ['secret', 'opaquetoken'],
])

/** The cure of a name that is not known. */
export function meantBy(name: string, nearest: string): string {
  const isSecret = lettersOf(name) === 'secret' && nearest === 'opaqueToken'
  return isSecret ? SECRET_CURE : `did you mean ${nearest}?`
}

/**
 * The known name that a misspelt one was meant to be: the misspelt one is cut short, or at most a
 * third of the letters differ, and at most 3.
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const letters = lettersOf(name)
  const meant = NAMES_ELSEWHERE.get(letters)
  const same = known.find((each) => meant !== undefined && lettersOf(each) === meant)
  if (same !== undefined) return same
  for (const edits of [0, 1, 2, 3]) {
    const nearest = known.find((each) => {
      const ours = lettersOf(each)
      return ours.length >= 3 * edits && isWithinEdits(edits, letters, ours)
    })
    if (nearest !== undefined) return nearest
  }
  return completionOf(letters, known)
}

/** The only name that begins so, or the shortest if all the others begin with that. */
function completionOf(letters: string, known: readonly string[]): string | undefined {
  const longer = known.filter((each) => lettersOf(each).startsWith(letters))
  const [shortest] = longer.toSorted((a, b) => a.length - b.length)
  const isClear = shortest !== undefined && longer.every((each) => each.startsWith(shortest))
  return letters.length >= 3 && isClear ? shortest : undefined
}
