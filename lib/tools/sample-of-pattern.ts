/**
 * A text that a regular expression matches as a whole. It knows characters, classes, groups,
 * alternatives and repetitions. Of alternatives it takes the first.
 *
 * @param source the expression, without slashes around it
 * @returns undefined if no such text is found
 */
export function sampleOfPattern(source: string): string | undefined {
  try {
    const whole = new RegExp(`^(?:${source})$`)
    const { sample } = sampleOfGroup(source.matchAll(PIECE))
    return whole.test(sample) ? sample : undefined
  } catch {
    return undefined
  }
}

/** A piece of an expression, with what repeats it. The end of a group is a piece too. */
const PIECE =
  /(\(\?(?::|<?[=!]|<\w+>)|\[(?:\\.|[^\]\\])*\]|\\(?:u[\da-fA-F]{4}|x[\da-fA-F]{2}|.)|.)(\{\d+(?:,\d*)?\}|[*+?])?\??/gs

/** Characters to try, the likeliest first. */
const CHARACTERS = [
  ...'a1A0bcdefghijklmnopqrstuvwxyzBCDEFGHIJKLMNOPQRSTUVWXYZ23456789-_.~@:+,;=!$&*() #%/?',
]

/** Reads up to the end of a group or of the expression. What repeats a group stands at its end. */
function sampleOfGroup(pieces: Iterable<RegExpExecArray> & Iterator<RegExpExecArray>): {
  readonly sample: string
  readonly repetition: string | undefined
} {
  const alternatives = ['']
  for (let next = pieces.next(); !next.done; next = pieces.next()) {
    const [, piece = '', repetition] = next.value
    if (piece === ')') return { sample: `${alternatives[0]}`, repetition }
    if (piece === '|') alternatives.push('')
    const isGroup = piece.startsWith('(')
    const one = isGroup ? sampleOfGroup(pieces) : { sample: sampleOfPiece(piece), repetition }
    // What is looked at, ahead or behind, takes no room.
    const isLooked = isGroup && /[=!]$/.test(piece)
    if (alternatives.length === 1 && !isLooked) {
      alternatives[0] += one.sample.repeat(timesOf(one.repetition))
    }
  }
  return { sample: `${alternatives[0]}`, repetition: undefined }
}

function sampleOfPiece(piece: string): string {
  if (['|', '^', '$', '\\b', '\\B'].includes(piece)) return ''
  const one = new RegExp(`^${piece}$`)
  return [...CHARACTERS, piece].find((character) => one.test(character)) ?? ''
}

/** Once, where it need not be there at all. */
function timesOf(repetition = ''): number {
  if (repetition === '{0}') return 0
  const least = Number(repetition.replaceAll(/^\{|[,}].*$/g, ''))
  return Math.min(MOST_REPEATED, Math.max(1, least || 1))
}

const MOST_REPEATED = 1000
