import { readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { join } from 'node:path'
import { compiled, digest, ROOT } from './compiled.ts'
import { findMutants } from './find-mutants.ts'
import type { Changed } from './module-graph.ts'

/** A change of a file of `lib/` that its tests should notice. */
export interface Mutant {
  /** Path of the file. */
  readonly file: string
  readonly mutator: string
  /** Where the change begins in the compiled file. */
  readonly start: number
  /** The number of the line in the source, and its text. */
  readonly lineNumber: number
  readonly line: string
  /** What is changed, and into what, on one line. */
  readonly change: string
  readonly changed: Changed
  /** The same for the same change of the same file. */
  readonly id: string
}

/** Every mutant of a file of `lib/`. Types are gone before, so that no mutant is one of them. */
export function mutantsOf(file: string): Mutant[] {
  const { text, map } = compiled(file)
  const lines = readFileSync(join(ROOT, file), 'utf8').split('\n')
  const sourceMap = new SourceMap(JSON.parse(map))
  return findMutants(text).map((found) => {
    const { mutator, start, end, before } = found
    const program = text.slice(0, start) + found.text + text.slice(end)
    const above = text.slice(0, start).split('\n')
    const entry = sourceMap.findEntry(above.length - 1, above.at(-1)?.length ?? 0)
    const lineNumber = 'originalLine' in entry ? entry.originalLine + 1 : 0
    return {
      ...{ file, mutator, start, lineNumber },
      line: lines[lineNumber - 1]?.trim() ?? '',
      change: `${shown(before)} → ${shown(found.text)}`,
      changed: { path: file, program },
      id: digest(file, program),
    }
  })
}

/** A part of a program on one line. A long one is cut. */
function shown(text: string): string {
  const line = text.replace(/\s+/g, ' ')
  return line.length > 60 ? `${line.slice(0, 59)}…` : line
}
