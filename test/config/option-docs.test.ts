import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import ts from 'typescript'
import { Rules } from '../../lib/config/issuer-schema.ts'
import { namesOf } from '../../lib/config/option-reader.ts'
import { Options } from '../../lib/config/options.ts'

const root = process.cwd()
const dist = join(root, 'dist')

/** What an application reads: the name of an option, or of a member of an issuer's rules. */
const EXPRESSIONS: readonly string[] = [
  ...[...namesOf(Options.properties), 'configFile'].map((name) => `options.${name}`),
  ...namesOf(Rules.properties).map((member) => `rules.${member}`),
  'listed.issuer',
]

const compilerOptions: ts.CompilerOptions = {
  ...ts.parseJsonConfigFileContent(
    ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile).config,
    ts.sys,
    root,
  ).options,
  skipLibCheck: true,
}

test('an editor shows the documentation of each option, and of each rule of an issuer', () => {
  const docs = hoveredDocs('../../dist/index.js', emitDeclarations())
  const silent = EXPRESSIONS.filter((expression) => !docs.get(expression))
  assert.deepEqual(silent, [])
  const found = docs.get('options.keysMaxStale') ?? ''
  assert.match(found, /^Time beyond `keysMaxAge` that a key set still serves/)
  assert.match(docs.get('options.configFile') ?? '', /^INI file whose `\[auth\]`/)
})

/**
 * What an editor shows where an application reads each option. `emitted` are files that exist only
 * in memory.
 */
function hoveredDocs(library: string, emitted: ReadonlyMap<string, string>): Map<string, string> {
  const application = join(root, 'test/settings/application.ts')
  const text = [
    `import type { AuthOptions, IssuerRules, ListedIssuer } from '${library}'`,
    'declare const options: AuthOptions, rules: IssuerRules, listed: ListedIssuer',
    ...EXPRESSIONS.map((expression) => `${expression};`),
  ].join('\n')
  const files = new Map([...emitted, [application, text]])
  const read = (file: string) => files.get(file) ?? ts.sys.readFile(file)
  const service = ts.createLanguageService({
    getCompilationSettings: () => compilerOptions,
    getScriptFileNames: () => [application],
    getScriptVersion: () => '1',
    getScriptSnapshot: (file) => {
      const content = read(file)
      return content === undefined ? undefined : ts.ScriptSnapshot.fromString(content)
    },
    getCurrentDirectory: () => root,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: (file) => files.has(file) || ts.sys.fileExists(file),
    directoryExists: (folder) => folder.startsWith(dist) || ts.sys.directoryExists(folder),
    readFile: read,
  })
  const docsAt = (place: number) => {
    const info = service.getQuickInfoAtPosition(application, place)
    return ts.displayPartsToString(info?.documentation)
  }
  return new Map(
    EXPRESSIONS.map((expression) => {
      const start = text.indexOf(`${expression};`)
      return [expression, docsAt(start + expression.indexOf('.') + 1)]
    }),
  )
}

function emitDeclarations(): Map<string, string> {
  const emitted = new Map<string, string>()
  const options = { ...compilerOptions, emitDeclarationOnly: true }
  const program = ts.createProgram([join(root, 'lib/index.ts')], options)
  program.emit(undefined, (file, content) => emitted.set(file, content))
  return emitted
}
