// Outside: JSON of others, which may be made to cost more than it tells.

/** Of a token: more lists, objects and members than this are a crowd. */
const MOST = 64

/** They begin a list, an object or one more item. */
const MARKS = [',', '[', '{']

/**
 * Whether reading JSON may cost more than verifying a signature. What it holds costs more than its
 * length: 1 400 nested lists cost as much as two forged signatures. So the marks are counted before
 * the text is parsed, and no further than to a crowd.
 */
export function isCrowded(json: string, most = MOST): boolean {
  let marks = 0
  for (const mark of MARKS) {
    for (let at = json.indexOf(mark); at >= 0; at = json.indexOf(mark, at + 1)) {
      if (++marks > most) return true
    }
  }
  return false
}
