/** More lists, objects and members than this are a crowd. */
const CROWDED = /^(?:[^,[{]*[,[{]){65}/

/**
 * Whether reading JSON may cost more than verifying a signature. What it holds costs more than its
 * length: 1 400 nested lists cost as much as two forged signatures. So the marks that begin a list,
 * an object or one more item are counted before the text is parsed.
 */
export function isCrowded(json: Buffer): boolean {
  return CROWDED.test(json.toString('latin1'))
}
