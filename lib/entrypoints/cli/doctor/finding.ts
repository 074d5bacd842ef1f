import { visible } from '../../../config/redact.ts'

/** `ok`: as it should be. `warning`: it works, and is seldom meant. `wrong`: it does not work. */
export type Level = 'ok' | 'warning' | 'wrong'

export interface Finding {
  readonly level: Level
  readonly what: string
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

/** Variants that people take for the same address. */
const VARIANTS: readonly (readonly [name: string, unify: (text: string) => string])[] = [
  ['white space', (text) => text.trim()],
  ['upper and lower case', (text) => text.toLowerCase()],
  ['http and https', (text) => text.replace(/^https?:/i, '')],
  ['a trailing slash', withoutSlashes],
  ['the usual port', (text) => text.replace(/:(?:80|443)(?=\/|$)/, '')],
]

/** No expression: it would look for the end behind each slash anew. */
function withoutSlashes(text: string): string {
  let end = text.length
  while (text[end - 1] === '/') end -= 1
  return text.slice(0, end)
}

/** The difference of two spellings of one address, in words; null: they are two addresses. */
export function spellingDifference(one: string, other: string): string | null {
  const isSameBy = (variants: typeof VARIANTS): boolean => {
    const unified = (text: string) => variants.reduce((rest, [, unify]) => unify(rest), text)
    return unified(one) === unified(other)
  }
  if (!isSameBy(VARIANTS)) return null
  const needed = VARIANTS.filter((each) => !isSameBy(VARIANTS.filter((other) => other !== each)))
  return needed.map(([name]) => name).join(', ') || null
}
