import ts from 'typescript'
import type { Change, Mutator } from './mutator.ts'

/** Parts of a regular expression, and what they become. An escaped character is a part too. */
const PARTS: readonly [part: RegExp, text: string][] = [
  [/^\^$/, ''],
  [/^\$$/, ''],
  [/^\+$/, ''],
  [/^\*$/, '+'],
  [/^\{.*\}$/, ''],
  [/^\[\^$/, '['],
  [/^\\d$/, '\\D'],
  [/^\\s$/, '\\S'],
  [/^\\w$/, '\\W'],
]

/** An anchor or a quantifier that is missing, and a class that is turned round. */
export const pattern: Mutator = (node) => {
  if (!ts.isRegularExpressionLiteral(node)) return []
  const from = node.getStart()
  const changes: Change[] = []
  let inClass = false
  for (const { 0: part, index } of node.text.matchAll(/\\.|\[\^?|\]|\{[\d,]+\}|\(\?<?[:=!]|./gsu)) {
    const isOpening = part.startsWith('[') && !inClass
    if (!inClass || part.startsWith('\\')) {
      const [, text] = PARTS.find(([kind]) => kind.test(part)) ?? []
      if (text !== undefined) {
        changes.push({ start: from + index, end: from + index + part.length, text })
      }
    }
    if (isOpening) inClass = true
    else if (part === ']') inClass = false
  }
  return changes
}
