import { readFileSync } from 'node:fs'
import { errorCode } from '../platform/runtime/error.ts'
import {
  type EntryLine,
  IMPLIES,
  isOurs,
  meantSection,
  OUR_SECTIONS,
  readLine,
  type SectionName,
} from './ini-line.ts'
import type { Problems } from './problems.ts'
import { showName, showPath } from './redact.ts'

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
  /** The text after the `=`, with its quotes and a comment. */
  readonly text: string
  /** File and line, for messages. */
  readonly where: string
}

/** `key: value`, with a `=` in the value. */
const OTHER_SYNTAX = /:\s/

/** A line that ends with `=`, as Base64 does, and is no key of letters without a value. */
const PADDED = /^(?!\s*[a-z_-]{1,24}\s*=)[^=]*==?\s*$/i

/** The key of a line that is no `key = value`. The rest may be a secret, as each line of PEM is. */
const NAME_ALONE = /^\s*([a-z_]+)(?![^\s:])/

/** The readable lines of our sections. Problems come in the order of the file. */
export function* readIniFile(
  file: string,
  problems: Problems,
): Generator<IniSection | IniEntry, void> {
  const before = problems.count
  const seen = new Set<string>()
  const isFirst = (key: string, where: string): boolean => {
    const isRepeated = seen.has(key)
    if (isRepeated) problems.add({ key, where }, 'it once', 'it again')
    seen.add(key)
    return !isRepeated
  }
  /** The section of the next line: `top` above all sections, `other` in one of the application. */
  let section: SectionName | 'top' | 'other' = 'top'
  for (const [index, row] of readRows(file, problems).entries()) {
    const where = `${file}, line ${index + 1}`
    const line = readLine(row)
    if (line.kind === 'broken section') {
      section = 'other'
      problems.add({ key: 'a section', where }, '[name]', 'a broken section line')
    } else if (line.kind === 'section') {
      section = isOurs(line.name) ? line.name : 'other'
      if (section === 'other') {
        refuseMeant(line.name, where, problems)
      } else {
        isFirst(`[${section}]`, where)
        yield { kind: 'section', section, where }
      }
    } else if (section === 'top' && line.kind === 'entry') {
      refuseStray(line, where, problems)
    } else if (section !== 'other' && line.kind === 'several lines') {
      refuseSeveral(where, problems)
    } else if (section !== 'top' && section !== 'other' && line.kind === 'entry') {
      const { key, text } = line
      const isPadded = section !== IMPLIES && PADDED.test(row)
      if (key === '' || text === null || isPadded || OTHER_SYNTAX.test(key)) {
        const shown = NAME_ALONE.exec(row)?.[1] ?? 'a line'
        problems.add({ key: shown, where }, 'key = value', 'no value')
      } else if (isFirst(`[${section}] ${key}`, where)) {
        yield { kind: 'entry', section, key, text, where }
      }
    }
  }
  // After another problem, the missing section may be the one that was refused.
  if (seen.size === 0 && problems.count === before) {
    problems.add({ key: 'configFile', where: file }, `a section ${OUR_SECTIONS}`, 'none')
  }
}

/** A section of the application whose name is nearly that of one of ours. */
function refuseMeant(name: string, where: string, problems: Problems): void {
  const meant = meantSection(name)
  if (meant === undefined) return
  const hint = `did you mean [${meant}]?`
  problems.add({ key: 'a section', where }, OUR_SECTIONS, `[${showName(name)}]`, hint)
}

function readRows(file: string, problems: Problems): string[] {
  try {
    // The decoder skips a byte order mark, and refuses what is not UTF-8.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file))
    return text.split(/\r\n|\n|\r/)
  } catch (error) {
    const source = { key: 'configFile', where: 'option' }
    const [code, path] = [errorCode(error), showPath(file)]
    const found = code === 'ENOENT' ? `none at ${path}` : `${path}, which cannot be read (${code})`
    problems.add(source, 'a readable INI file in UTF-8', found)
    return []
  }
}

/**
 * A line that an editor shows as several must not lose one of them in a comment or a value. It is
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
