import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ts from 'typescript'

/** The repository. */
export const ROOT = process.cwd()

/** Counts changes of the examination that verdicts of before do not outlive. */
const EDITION = 2

/** What a later run can use again stands here, outside the repository. */
export const SCRATCH = join(tmpdir(), `fastify-tenant-auth-mutation-${EDITION}`)

/** A source as JavaScript, and the way back. */
export interface Compiled {
  readonly text: string
  readonly map: string
}

const OPTIONS: ts.CompilerOptions = {
  module: ts.ModuleKind.ESNext,
  target: ts.ScriptTarget.ES2023,
  verbatimModuleSyntax: true,
  removeComments: true,
  sourceMap: true,
}

/** Compiles a file of the repository without its types. What has been compiled once is kept. */
export function compiled(path: string): Compiled {
  const source = readFileSync(join(ROOT, path), 'utf8')
  const kept = join(SCRATCH, `${digest(ts.version, path, source)}.json`)
  if (existsSync(kept)) return JSON.parse(readFileSync(kept, 'utf8'))
  const { outputText, sourceMapText = '' } = ts.transpileModule(source, {
    fileName: path,
    compilerOptions: OPTIONS,
  })
  const made = { text: outputText.replace(/\n\/\/# sourceMappingURL=.*/, ''), map: sourceMapText }
  mkdirSync(SCRATCH, { recursive: true })
  writeFileSync(kept, JSON.stringify(made))
  return made
}

export function digest(...texts: readonly string[]): string {
  const hash = createHash('sha256')
  for (const text of texts) hash.update(`${text.length}:${text}`)
  return hash.digest('hex').slice(0, 32)
}
