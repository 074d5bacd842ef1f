import { readFileSync } from 'node:fs'
import { type EntryLine, readLine } from './ini-line.ts'
import { IniSections } from './ini-sections.ts'
import type { Problems } from './problems.ts'
import { OUR_SECTIONS, type SectionName } from './section-name.ts'
import { showPath } from './shown-value.ts'

/** The line that begins a section of ours. */
export interface IniSection {
  readonly kind: 'section'
  readonly section: SectionName
  /** File and line, for messages. */
  readonly where: string
}

/** One `key = value` line of a section of ours. */
export interface IniEntry {
  readonly kind: 'entry'
  readonly section: SectionName
  readonly key: string
  /** What follows the `=`, with its quotes and a comment. */
  readonly text: string
  /** File and line, for messages. */
  readonly where: string
}

/** The readable lines of our sections. Problems come in the order of the file. */
export function* readIniFile(
  file: string,
  problems: Problems,
): Generator<IniSection | IniEntry, void> {
  const before = problems.count
  const sections = new IniSections(problems)
  const seen = new Set<string>()
  for (const [index, row] of readRows(file, problems).entries()) {
    const where = `${file}, line ${index + 1}`
    const line = readLine(row)
    if (line.kind === 'section') {
      sections.enter(line.name, where)
      const { current: section } = sections
      if (section !== 'top' && section !== 'other') yield { kind: 'section', section, where }
    } else if (line.kind === 'broken section') {
      sections.enterBroken(where)
    } else if (line.kind === 'several lines') {
      if (sections.current !== 'other') refuseSeveral(where, problems)
    } else if (line.kind === 'entry') {
      const section = sections.current
      if (section === 'top') refuseStray(line, where, problems)
      if (section === 'top' || section === 'other') continue
      const { key, text } = line
      if (key === '' || text === null) {
        problems.add({ key: row.trim(), where }, 'key = value', 'no value')
        continue
      }
      const name = `[${section}] ${key}`
      if (seen.has(name)) problems.add({ key: name, where }, 'it once', 'it again')
      else yield { kind: 'entry', section, key, text, where }
      seen.add(name)
    }
  }
  // Where something is wrong with the file, its section may be what was refused.
  if (!sections.hasOurs && problems.count === before) {
    problems.add({ key: 'configFile', where: file }, `a section ${OUR_SECTIONS}`, 'none')
  }
}

function readRows(file: string, problems: Problems): string[] {
  try {
    // The decoder skips a byte order mark, and refuses what is not UTF-8.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file))
    return text.split(/\r\n|\n|\r/)
  } catch {
    const source = { key: 'configFile', where: 'option' }
    problems.add(source, 'a readable INI file in UTF-8', `none at ${showPath(file)}`)
    return []
  }
}

/**
 * What an editor shows as a line of its own must not be lost in a comment or a value. The line is
 * not shown: above all sections it is the application's, and may hold a secret.
 */
function refuseSeveral(where: string, problems: Problems): void {
  const expected = 'lines that end with LF or CR LF'
  problems.add({ key: 'a line', where }, expected, 'another line separator within one')
}

/** A top-level key that is called like a section of ours. The others are the application's. */
function refuseStray({ key }: EntryLine, where: string, problems: Problems): void {
  if (!/^["']?(?:auth|tenants)(?:$|[."'[])/i.test(key)) return
  problems.add({ key, where }, `a section ${OUR_SECTIONS}`, 'a top-level key')
}
