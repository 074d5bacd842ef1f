import assert from 'node:assert/strict'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import ts from 'typescript'
import { optionNames } from '../../lib/settings/ini-values.ts'

const root = resolve(import.meta.dirname, '../..')
const dist = join(root, 'dist')
const names: readonly string[] = [...optionNames(), 'configFile']

const compilerOptions: ts.CompilerOptions = {
  ...ts.parseJsonConfigFileContent(
    ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile).config,
    ts.sys,
    root,
  ).options,
  skipLibCheck: true,
}

test('an editor shows the documentation of each option', () => {
  expectDocs(hoveredDocs('../../lib/index.ts', new Map()))
})

test('an editor shows it from the published declarations too', () => {
  expectDocs(hoveredDocs('../../dist/index.js', emitDeclarations()))
})

function expectDocs(docs: ReadonlyMap<string, string>): void {
  const silent = names.filter((name) => !docs.get(name))
  assert.deepEqual(silent, [])
  assert.match(
    docs.get('keysMaxStale') ?? '',
    /^How long beyond `keysMaxAge` a key set still serves/,
  )
  assert.match(docs.get('configFile') ?? '', /^INI file whose `\[auth\]`/)
}

/**
 * What an editor shows where an application reads each option. `emitted` are files that exist only
 * in memory.
 */
function hoveredDocs(library: string, emitted: ReadonlyMap<string, string>): Map<string, string> {
  const application = join(root, 'test/settings/application.ts')
  const text = [
    `import type { AuthOptions } from '${library}'`,
    'declare const options: AuthOptions',
    ...names.map((name) => `options.${name};`),
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
    names.map((name) => [name, docsAt(text.indexOf(`options.${name};`) + 'options.'.length)]),
  )
}

function emitDeclarations(): Map<string, string> {
  const emitted = new Map<string, string>()
  const options = { ...compilerOptions, emitDeclarationOnly: true }
  const program = ts.createProgram([join(root, 'lib/index.ts')], options)
  program.emit(undefined, (file, content) => emitted.set(file, content))
  return emitted
}
