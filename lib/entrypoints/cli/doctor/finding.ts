import { visible } from '../../../config/redact.ts'

/** `ok`: as it should be. `warning`: it works, and is seldom meant. `wrong`: it does not work. */
export type Level = 'ok' | 'warning' | 'wrong'

/** One thing that was looked at, fit for a terminal. */
export interface Finding {
  readonly level: Level
  readonly what: string
  /** What to do; nothing where it is ok. */
  readonly cure?: string
}

export function fine(what: string): Finding {
  return { level: 'ok', what: visible(what) }
}

export function doubtful(what: string, cure: string): Finding {
  return { level: 'warning', what: visible(what), cure: visible(cure) }
}

export function wrong(what: string, cure: string): Finding {
  return { level: 'wrong', what: visible(what), cure: visible(cure) }
}

type Unify = (text: string) => string

/** What people take for the same address, by its name. */
const VARIANTS: readonly (readonly [name: string, unify: Unify])[] = [
  ['white space', (text) => text.trim()],
  ['upper and lower case', (text) => text.toLowerCase()],
  ['http and https', (text) => text.replace(/^https?:/i, '')],
  ['a trailing slash', withoutSlashes],
  ['the usual port', (text) => text.replace(/:(?:80|443)(?=\/|$)/, '')],
]

/** By hand: an expression would look for the end behind each slash anew. */
function withoutSlashes(text: string): string {
  let end = text.length
  while (text[end - 1] === '/') end -= 1
  return text.slice(0, end)
}

/** What alone makes two spellings of one address differ, in words; null: they are two. */
export function spellingDifference(one: string, other: string): string | null {
  const isSameBy = (variants: typeof VARIANTS): boolean => {
    const unified = (text: string) => variants.reduce((rest, [, unify]) => unify(rest), text)
    return unified(one) === unified(other)
  }
  if (!isSameBy(VARIANTS)) return null
  const needed = VARIANTS.filter(
    (variant) => !isSameBy(VARIANTS.filter((each) => each !== variant)),
  )
  return needed.map(([name]) => name).join(', ') || null
}
