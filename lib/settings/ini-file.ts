import { readFileSync } from 'node:fs'
import ini from 'ini'
import { ERR_AUTH_CONFIG_INVALID } from '../errors.ts'

/** One `key = value` line of a section of ours. */
export interface IniEntry {
  readonly section: SectionName
  readonly key: string
  readonly value: string
  /** File and line, for messages. */
  readonly where: string
}

/** The sections that are ours. All others belong to the application. */
type SectionName = 'auth' | 'tenants'

const COMMENT_OR_BLANK = /^\s*(?:[;#].*)?$/
const SECTION = /^\s*\[([^\]]*)\]\s*(?:\s[;#].*)?$/
const KEY_VALUE = /^\s*([^=\s][^=]*?)\s*=\s*(.*?)\s*$/

/** A quoted value, whole, with nothing after it but a comment. */
const QUOTED = /^("(?:[^"\\]|\\.)*"|'[^']*')(?:\s+[;#].*)?$/

/** What an unquoted value ends at: a comment after white space. */
const COMMENT_AFTER_VALUE = /(?:^|\s+)[;#].*$/

/**
 * The lines of `[auth]` and `[tenants]`. What the ini package alone would half read in silence is refused here,
 * line by line; the package then reads each value.
 *
 * @throws ERR_AUTH_CONFIG_INVALID
 */
export function readIniFile(file: string): IniEntry[] {
  const entries: IniEntry[] = []
  const seen = new Set<string>()
  let section: SectionName | 'top' | 'other' = 'top'
  for (const [index, line] of linesOf(file).entries()) {
    const where = `${file}, line ${index + 1}`
    if (COMMENT_OR_BLANK.test(line)) continue
    if (/^\s*\[/.test(line)) {
      section = readSection(line, where)
      if (section === 'other') continue
      once(seen, `[${section}]`, where)
    } else if (section === 'top') {
      refuseStray(line, where)
    } else if (section !== 'other') {
      const entry = readEntry(line, section, where)
      once(seen, `[${section}] ${entry.key}`, where)
      entries.push(entry)
    }
  }
  return entries
}

function linesOf(file: string): string[] {
  let text: string
  try {
    // The decoder skips a byte order mark, and refuses what is not UTF-8.
    text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file))
  } catch {
    throw new ERR_AUTH_CONFIG_INVALID(
      `configFile: expected a readable INI file in UTF-8, found none at ${file}`,
    )
  }
  return text.split(/\r\n|\n|\r/)
}

function readSection(line: string, where: string): SectionName | 'other' {
  const name = SECTION.exec(line)?.[1]?.trim()
  if (name === undefined) {
    throw invalid('a section', 'expected [name]', 'found a broken section line', where)
  }
  if (name === 'auth' || name === 'tenants') return name
  if (isAlmostOurs(name)) {
    throw invalid('a section', 'expected [auth] or [tenants]', `found [${name}]`, where)
  }
  return 'other'
}

/** `[Auth]`, `["auth"]`, `[auth.x]`: the ini package, or a person, would take them for ours. */
function isAlmostOurs(name: string): boolean {
  return /^["']?\s*(?:auth|tenants)\s*["']?(?:$|[.\\[])/i.test(name)
}

function refuseStray(line: string, where: string): void {
  const key = line.replace(/=.*$/, '').trim()
  if (isAlmostOurs(key)) {
    throw invalid(key, 'expected a section [auth] or [tenants]', 'found a top-level key', where)
  }
}

function readEntry(line: string, section: SectionName, where: string): IniEntry {
  const [, key, text] = KEY_VALUE.exec(line) ?? []
  if (key === undefined || text === undefined) {
    throw invalid(line.trim(), 'expected key = value', 'found no value', where)
  }
  return { section, key, value: readValue(key, text, where), where }
}

function readValue(key: string, text: string, where: string): string {
  const quoted = QUOTED.exec(text)?.[1]
  if (quoted?.startsWith("'")) return quoted.slice(1, -1)
  const value = quoted ?? text.replace(COMMENT_AFTER_VALUE, '')
  if (quoted === undefined && /[;#]/.test(value)) {
    const expected = 'expected white space before a comment, or quotes around the value'
    throw invalid(key, expected, 'found ; or # glued to it', where)
  }
  const read = String(ini.decode(`value = ${value}`).value)
  // The package leaves what it cannot unquote as it stands.
  if (quoted === undefined ? /^["']|["']$/.test(value) : read === quoted) {
    throw invalid(key, 'expected both quotes or none', 'found others, or a bad escape', where)
  }
  return read
}

function once(seen: Set<string>, name: string, where: string): void {
  if (seen.has(name)) throw invalid(name, 'expected it once', 'found it again', where)
  seen.add(name)
}

function invalid(key: string, expected: string, found: string, where: string) {
  return new ERR_AUTH_CONFIG_INVALID(`${key}: ${expected}, ${found} (${where})`)
}
