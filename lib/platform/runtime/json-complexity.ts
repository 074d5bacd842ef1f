// Outside: JSON of others, which may be made to cost more than it tells.

/** Of a token: more lists, objects and members than this are a crowd. */
const MOST = 64

/** They begin a list, an object or one more item. */
const MARKS = [',', '[', '{']

/** Bytes of V8's heap for one more list, object, member or item, and for a letter: at most so. */
const BYTES_OF_MARK = 256
const BYTES_OF_LETTER = 2

/**
 * Whether reading JSON may cost more than verifying a signature. What it holds costs more than its
 * length: 1 400 nested lists cost as much as two forged signatures. So the marks are counted before
 * the text is parsed, and no further than to a crowd.
 */
export function isTooComplex(json: string, most = MOST): boolean {
  return countMarks(json, most) > most
}

/** Bytes that JSON data keeps alive, with what is made of it: an estimate, rather too high. */
export function keptBytes(value: object | null): number {
  const json = JSON.stringify(value)
  return BYTES_OF_LETTER * json.length + BYTES_OF_MARK * countMarks(json)
}

function countMarks(json: string, most = Number.POSITIVE_INFINITY): number {
  let marks = 0
  for (const mark of MARKS) {
    for (let at = json.indexOf(mark); at >= 0; at = json.indexOf(mark, at + 1)) {
      if (++marks > most) return marks
    }
  }
  return marks
}
