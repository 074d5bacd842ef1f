/**
 * A text that a regular expression matches as a whole. Undefined if none is found: it knows
 * characters, classes, groups, alternatives and repetitions, and of alternatives it takes the
 * first.
 *
 * @param source the expression, without slashes around it
 */
export function sampleOfPattern(source: string): string | undefined {
  try {
    const whole = new RegExp(`^(?:${source})$`)
    const sample = sampleOfAlternatives(source)
    return whole.test(sample) ? sample : undefined
  } catch {
    return undefined
  }
}

/**
 * A piece of an expression: a group, a class, an escape or another character, with what repeats it.
 */
const PIECE =
  /(\[(?:\\.|[^\]\\])*\]|\\(?:[upP]\{[^}]*\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|.)|[^\\[(])(\{\d+(?:,\d*)?\}|[*+?])?\??/sy

/** How often a group is repeated. */
const REPETITION = /(\{\d+(?:,\d*)?\}|[*+?])?\??/y

/** Characters to try, the likeliest first. */
const CHARACTERS = [
  ...'a1A0bcdefghijklmnopqrstuvwxyzBCDEFGHIJKLMNOPQRSTUVWXYZ23456789-_.~@:+,;=!$&*() #%/?',
]

function sampleOfAlternatives(source: string): string {
  let sample = ''
  let at = 0
  while (at < source.length && source[at] !== '|') {
    const isGroup = source[at] === '('
    const end = isGroup ? endOfGroup(source, at) : at
    const rest = match(isGroup ? REPETITION : PIECE, source, end)
    const one = isGroup
      ? sampleOfGroup(source.slice(at + 1, end - 1))
      : sampleOfPiece(rest[1] ?? '')
    sample += one.repeat(timesOf(rest[isGroup ? 1 : 2]))
    at = end + rest[0].length
  }
  return sample
}

/** What is looked at ahead or behind takes no room. */
function sampleOfGroup(inner: string): string {
  if (/^\?<?[=!]/.test(inner)) return ''
  return sampleOfAlternatives(inner.replace(/^\?(?::|<\w+>)/, ''))
}

function sampleOfPiece(piece: string): string {
  if (['^', '$', '\\b', '\\B'].includes(piece)) return ''
  const one = new RegExp(`^${piece}$`, /^\\[upP]\{/.test(piece) ? 'u' : '')
  const found = [...CHARACTERS, piece].find((character) => one.test(character))
  if (found === undefined) throw new Error('no character fits')
  return found
}

/** Once, where it need not be there at all. */
function timesOf(repetition = ''): number {
  const [, least] = /^\{(\d+)/.exec(repetition) ?? []
  if (repetition === '{0}') return 0
  return Math.min(MOST_REPEATED, Math.max(1, Number(least ?? 1)))
}

const MOST_REPEATED = 1000

function endOfGroup(source: string, start: number): number {
  let depth = 0
  for (
    let at = start;
    at < source.length;
    at += match(PIECE_OR_PARENTHESIS, source, at)[0].length
  ) {
    if (source[at] === '(') depth++
    if (source[at] === ')' && --depth === 0) return at + 1
  }
  throw new Error('the group has no end')
}

const PIECE_OR_PARENTHESIS = /\[(?:\\.|[^\]\\])*\]|\\.|./sy

function match(expression: RegExp, source: string, at: number): RegExpExecArray {
  expression.lastIndex = at
  const found = expression.exec(source)
  if (found === null) throw new Error('a piece cannot be read')
  return found
}
