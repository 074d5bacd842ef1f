// Outside: JSON of others, which may be made to cost more than its content is worth.

/** Most structural characters of a token. */
export const MOST_MARKS = 64

/** The characters that begin a list, an object or one more item. */
const MARKS = [',', '[', '{']

/** Bytes of V8's heap for one more list, object, member or item, and for a letter: at most so. */
const BYTES_OF_MARK = 256
const BYTES_OF_LETTER = 2

/**
 * JSON whose reading may cost more than the verification of a signature. Structure costs more than
 * length: 1 400 nested lists cost as much as two forged signatures. So the structural characters
 * are counted before the text is parsed, and no more of them than `most` and one.
 */
export function isTooComplex(json: string, most = MOST_MARKS): boolean {
  return countMarks(json, most) > most
}

/** Bytes of JSON data in memory, with the objects made of it: an estimate, rather too high. */
export function keptBytes(value: object | null): number {
  return bytesOfJson(JSON.stringify(value))
}

/** The same of a JSON text. */
export function bytesOfJson(json: string, marks = countMarks(json)): number {
  return BYTES_OF_LETTER * json.length + BYTES_OF_MARK * marks
}

export function countMarks(json: string, most = Number.POSITIVE_INFINITY): number {
  let marks = 0
  for (const mark of MARKS) {
    for (let at = json.indexOf(mark); at >= 0; at = json.indexOf(mark, at + 1)) {
      if (++marks > most) return marks
    }
  }
  return marks
}
