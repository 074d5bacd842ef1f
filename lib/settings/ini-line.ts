import ini from 'ini'
import { resemblanceOf } from './section-name.ts'
import { showValue } from './shown-value.ts'

/** What one line of an INI file is. */
export type IniLine =
  | { readonly kind: 'blank' }
  | { readonly kind: 'section'; readonly name: string }
  | { readonly kind: 'broken section' }
  /** Several lines to a person's eye, without a section line among them. */
  | { readonly kind: 'several lines' }
  | EntryLine

export interface EntryLine {
  readonly kind: 'entry'
  readonly key: string
  /** What follows the `=`; null where there is none. */
  readonly text: string | null
}

// The time that these expressions take grows as the line does: no two parts of one of them can
// take the same character.

const COMMENT_OR_BLANK = /^\s*(?:[;#].*)?$/s

const SECTION_START = /^\s*\[/

/** Blanks are spaces and tabs. Other characters, even invisible ones, are part of the name. */
const SECTION = /^[ \t]*\[([^\]]*)\][ \t]*(?:(?<=[ \t])[;#].*)?$/s

const BLANKS_AROUND = /^[ \t]+|(?<![ \t])[ \t]+$/g

/** VT, FF, NEL, LS and PS: editors begin a new line there (Unicode §5.8), and INI files do not. */
const OTHER_LINE_END = /[\v\f\u0085\u2028\u2029]/

export function readLine(line: string): IniLine {
  const lines = line.split(OTHER_LINE_END)
  if (lines.length === 1) return readOneLine(line)
  const kinds = lines.map((each) => readOneLine(each).kind)
  const hasSection = kinds.some((kind) => kind === 'section' || kind === 'broken section')
  return { kind: hasSection ? 'broken section' : 'several lines' }
}

function readOneLine(line: string): IniLine {
  if (COMMENT_OR_BLANK.test(line)) return { kind: 'blank' }
  if (SECTION_START.test(line)) {
    const name = SECTION.exec(line)?.[1]
    if (name === undefined) return { kind: 'broken section' }
    return { kind: 'section', name: name.replaceAll(BLANKS_AROUND, '') }
  }
  const equals = line.indexOf('=')
  if (equals !== -1) {
    const text = line.slice(equals + 1).trim()
    return { kind: 'entry', key: line.slice(0, equals).trim(), text }
  }
  if (isSectionInDisguise(line)) return { kind: 'broken section' }
  return { kind: 'entry', key: line.trim(), text: null }
}

/** `auth]`, `(auth)`, or `[auth]` after a character that nobody sees. */
function isSectionInDisguise(line: string): boolean {
  const name = withoutComment(line)
  return /[\p{Ps}\p{Pe}]/u.test(name) && resemblanceOf(name) !== null
}

/** A quoted value, whole, with nothing after it but a comment. */
const QUOTED = /^("(?:[^"\\]|\\.)*"|'[^']*')(?:\s+[;#].*)?$/

/** A comment starts at the beginning, or after white space. */
const COMMENT = /(?<!\S)[;#]/

function withoutComment(text: string): string {
  const start = text.search(COMMENT)
  return start === -1 ? text : text.slice(0, start).trimEnd()
}

/** Why a value cannot be read. */
export interface UnreadableValue {
  readonly expected: string
  readonly found: string
}

/** The value of a key. What the ini package would half read in silence is refused first. */
export function readValue(text: string): string | UnreadableValue {
  const quoted = QUOTED.exec(text)?.[1]
  if (quoted?.startsWith("'")) return quoted.slice(1, -1)
  const value = quoted ?? withoutComment(text)
  if (quoted === undefined && /[;#]/.test(value)) {
    const expected = 'white space before a comment, or quotes around the value'
    return { expected, found: `; or # glued to it in ${showValue(text)}` }
  }
  const read = String(ini.decode(`value = ${value}`).value)
  // The package leaves what it cannot unquote as it stands.
  if (quoted === undefined ? /^["']|["']$/.test(value) : read === quoted) {
    const found = `others, or a bad escape, in ${showValue(text)}`
    return { expected: 'both quotes or none', found }
  }
  return read
}
