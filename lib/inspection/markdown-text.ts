/** Characters that would mean something in Markdown, or in HTML, which Markdown may hold. */
const MARKS = /[\\`*_{}[\]<>#|~!&$]/g

/** Text that Markdown shows as it is, in the cell of a table too. */
export function escaped(text: string): string {
  return text.replace(MARKS, '\\$&')
}

/** A code span whose fence is longer than any run of backticks in the text. */
export function code(text: string): string {
  const runs = text.match(/`+/g) ?? []
  const fence = '`'.repeat(1 + Math.max(0, ...runs.map(({ length }) => length)))
  const pad = runs.length > 0 ? ' ' : ''
  return `${fence}${pad}${text}${pad}${fence}`
}

/**
 * Code in the cell of a table. A bar there has a backslash before it, which a span of code cannot
 * tell from one of the text. HTML can.
 */
export function codeCell(text: string): string {
  if (text.includes('\\|')) return `<code>${text.replace(/\W/gu, entity)}</code>`
  return code(text).replaceAll('|', '\\|')
}

function entity(character: string): string {
  return `&#${character.codePointAt(0)};`
}
