import ini from 'ini'
import { showValue } from './redact.ts'

type IniLine =
  | { readonly kind: 'blank' }
  | { readonly kind: 'section'; readonly name: string }
  | { readonly kind: 'broken section' }
  /** Several lines to a person's eye, without a section line among them. */
  | { readonly kind: 'several lines' }
  | EntryLine

export interface EntryLine {
  readonly kind: 'entry'
  readonly key: string
  /** The text after the `=`; null if there is none. */
  readonly text: string | null
}

// The time of these expressions grows as the line does: no two parts of one of them match the same
// character.

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
  if (isBrokenSection(line)) return { kind: 'broken section' }
  return { kind: 'entry', key: line.trim(), text: null }
}

/** `auth]`, or `[auth]` after something that is no blank. */
function isBrokenSection(line: string): boolean {
  const text = withoutComment(line)
  if (!text.endsWith(']')) return false
  return meantSection(text.slice(text.lastIndexOf('[') + 1, -1).trim()) !== undefined
}

/** A quoted value, whole, with nothing after it but a comment. */
const QUOTED = /^("(?:[^"\\]|\\.)*"|'[^']*')(?:\s+[;#].*)?$/

/** A comment starts at the beginning, or after white space. */
const COMMENT = /(?<!\S)[;#]/

function withoutComment(text: string): string {
  const start = text.search(COMMENT)
  return start === -1 ? text : text.slice(0, start).trimEnd()
}

export class UnreadableValue {
  readonly expected: string
  readonly found: string

  constructor(expected: string, found: string) {
    this.expected = expected
    this.found = found
  }
}

/** The value of a key. Text that the ini package would silently read in part is refused first. */
export function readValue(text: string): string | UnreadableValue {
  const quoted = QUOTED.exec(text)?.[1]
  const value = quoted ?? withoutComment(text)
  return decoded(value, quoted !== undefined, text)
}

const SEPARATORS = /[\s,]*/y

/** A quoted item, whole, or one up to the next separator or comment. */
const ITEM = /"(?:[^"\\]|\\.)*"|'[^']*'|[^\s,;#]+/y

/** The items of a list. Commas and white space separate them; what is quoted is one item. */
export function readItems(text: string): string[] | UnreadableValue {
  const items: string[] = []
  let at = 0
  const next = (expression: RegExp): string => {
    expression.lastIndex = at
    const found = expression.exec(text)?.[0] ?? ''
    at += found.length
    return found
  }
  while (true) {
    const isApart = next(SEPARATORS) !== '' || items.length === 0
    if (at === text.length || isComment(text, at)) return items
    const item = next(ITEM)
    if (item === '') return gluedComment(text)
    if (!isApart) return badQuotes(text)
    const read = decoded(item, QUOTED.test(item), text)
    if (read instanceof UnreadableValue) return read
    items.push(read)
  }
}

function isComment(text: string, at: number): boolean {
  return /[;#]/.test(text.charAt(at)) && /^\s?$/.test(text.charAt(at - 1))
}

/** @param text the whole that a message shows */
function decoded(value: string, isQuoted: boolean, text: string): string | UnreadableValue {
  if (isQuoted && value.startsWith("'")) return value.slice(1, -1)
  if (!isQuoted && /[;#]/.test(value)) return gluedComment(text)
  if (!isQuoted && value.startsWith('=')) {
    return new UnreadableValue(
      'one =, or quotes around the value',
      `= at the start of ${showValue(text)}`,
    )
  }
  const read = String(ini.decode(`value = ${value}`).value)
  // The package returns text that it cannot unquote unchanged.
  return (isQuoted ? read === value : /^["']|["']$/.test(value)) ? badQuotes(text) : read
}

function gluedComment(text: string): UnreadableValue {
  const expected = 'white space before a comment, or quotes around the value'
  return new UnreadableValue(expected, `; or # glued to it in ${showValue(text)}`)
}

function badQuotes(text: string): UnreadableValue {
  const found = `others, or a bad escape, in ${showValue(text)}`
  return new UnreadableValue('both quotes or none', found)
}

type OptionSection = 'auth' | 'tenants'

export type IssuerSection = `auth.${string}`

/** The sections that are ours. All others belong to the application. */
export type SectionName = OptionSection | typeof IMPLIES | IssuerSection

/** The section of the option `implies`, whose keys are resource ids. */
export const IMPLIES = 'implies'

export const OUR_SECTIONS = '[auth], [auth.NAME], [tenants] or [implies]'

const WORDS: readonly OptionSection[] = ['auth', 'tenants']

export function isOurs(name: string): name is SectionName {
  return isOptionSection(name) || name === IMPLIES || /^auth\.[\w.-]{1,64}$/.test(name)
}

export function isOptionSection(name: string): name is OptionSection {
  return WORDS.some((word) => word === name)
}

/**
 * The section of ours that a name may have been meant for: it differs by case, or by one letter
 * more, less or other. `oauth` is a word of its own.
 */
export function meantSection(
  name: string,
): Exclude<SectionName, IssuerSection> | 'auth.NAME' | undefined {
  const [first = '', ...others] = name.toLowerCase().split('.')
  if (first === 'oauth') return undefined
  if (others.length > 0) return isOneLetterOff(first, 'auth') ? 'auth.NAME' : undefined
  return ([...WORDS, IMPLIES] as const).find((word) => isOneLetterOff(first, word))
}

/** True: the name is ours, or differs from it by one letter. */
function isOneLetterOff(name: string, ours: string): boolean {
  let same = 0
  while (same < ours.length && name[same] === ours[same]) same++
  const [rest, restOfOurs] = [name.slice(same), ours.slice(same)]
  return [restOfOurs, restOfOurs.slice(1)].includes(rest.slice(1)) || rest === restOfOurs.slice(1)
}
