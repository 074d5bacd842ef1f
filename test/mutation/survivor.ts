import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Mutant } from './mutant.ts'

/** A mutant that no test kills, written down in `survivors/`. */
export interface Survivor {
  readonly file: string
  readonly mutator: string
  /** Text of the line. Its number would change with each line above it. */
  readonly line: string
  readonly change: string
  /** An equivalent program does the same. A gap is one that a test could notice: it counts. */
  readonly kind: 'equivalent' | 'gap'
  readonly why: string
}

const FOLDER = join(import.meta.dirname, 'survivors')

/** The survivors that are written down, by their keys. */
export function readSurvivors(folder = FOLDER): Map<string, Survivor> {
  const survivors = readdirSync(folder).flatMap((name): Survivor[] =>
    JSON.parse(readFileSync(join(folder, name), 'utf8')),
  )
  return new Map(survivors.map((survivor) => [survivorKey(survivor), survivor]))
}

/** What tells survivors apart. Two mutants that change a line alike share their reason. */
export function survivorKey(of: Pick<Mutant, 'file' | 'mutator' | 'line' | 'change'>): string {
  return [of.file, of.mutator, of.line, of.change].join(' | ')
}

/** Survivors that are written down, and exist no more: their line or the mutator has changed. */
export function staleSurvivors(
  survivors: ReadonlyMap<string, Survivor>,
  mutants: readonly Pick<Mutant, 'file' | 'mutator' | 'line' | 'change'>[],
): string[] {
  const keys = new Set(mutants.map(survivorKey))
  return [...survivors.keys()].filter((key) => !keys.has(key))
}
