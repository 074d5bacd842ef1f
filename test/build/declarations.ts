import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import ts from 'typescript'

// A step of `npm run build`. The types that TypeBox computes are written out, so that no
// application needs it. Then what no application can reach from an entry point goes: it would be
// half of what is declared.

const doors = Object.values<{ readonly types?: string }>(
  JSON.parse(readFileSync('package.json', 'utf8')).exports,
).flatMap(({ types }) => (types === undefined ? [] : [resolve(types)]))

const isOurs = ({ fileName }: ts.SourceFile) => !relative('dist', fileName).startsWith('..')
const printer = ts.createPrinter({ removeComments: true })

writeComputedTypes(load())
const declared = load()
const files = keepReached(declared)
keepAugmentations(declared.files)
for (const name of readdirSync('dist', { recursive: true, encoding: 'utf8' })) {
  const path = resolve('dist', name)
  if (!path.endsWith('.d.ts')) continue
  const text = files.get(path) ?? ''
  if (text === '') rmSync(path)
  // Without `export {}`, a declaration exports even what it does not name so.
  else writeFileSync(path, `${text}\nexport {};\n`)
}

interface Declared {
  readonly files: readonly ts.SourceFile[]
  readonly checker: ts.TypeChecker
}

function load(): Declared {
  const program = ts.createProgram(doors, {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
  })
  return { files: program.getSourceFiles().filter(isOurs), checker: program.getTypeChecker() }
}

/** An alias of what a schema describes becomes an object type, with the comments of its members. */
function writeComputedTypes({ files, checker }: Declared): void {
  for (const file of files) {
    let text = file.text
    for (const statement of file.statements) {
      if (!ts.isTypeAliasDeclaration(statement)) continue
      const type = statement.type.getText()
      if (!type.includes('Static<')) continue
      if (!/^Readonly<Static<typeof \w+>>$/.test(type)) throw new Error(`not written out: ${type}`)
      const members = checker
        .getTypeAtLocation(statement.name)
        .getProperties()
        .sort((a, b) => placeOf(a) - placeOf(b))
        .map((member) => memberText(member, statement, checker))
      text = text.replace(type, () => `{\n${members.join('')}}`)
    }
    if (text !== file.text) writeFileSync(file.fileName, text)
  }
}

/** Members of one schema stand in one file. */
function placeOf({ declarations: [first] = [] }: ts.Symbol): number {
  return first?.pos ?? 0
}

function memberText(member: ts.Symbol, place: ts.Statement, checker: ts.TypeChecker): string {
  const computed = checker.getTypeOfSymbol(member)
  const type = checker.typeToTypeNode(computed, place, ts.NodeBuilderFlags.NoTruncation)
  const [source] = member.declarations ?? []
  if (type === undefined || source === undefined) throw new Error(`not declared: ${member.name}`)
  const isOptional = (member.flags & ts.SymbolFlags.Optional) !== 0
  const comment = source.getFullText().slice(0, source.getLeadingTriviaWidth()).trim()
  const text = printer.printNode(
    ts.EmitHint.Unspecified,
    isOptional ? withoutUndefined(type) : type,
    place.getSourceFile(),
  )
  return `    ${comment}\n    readonly ${member.name}${isOptional ? '?' : ''}: ${text};\n`
}

/** The `?` says it. */
function withoutUndefined(type: ts.TypeNode): ts.TypeNode {
  if (!ts.isUnionTypeNode(type)) return type
  const types = type.types.filter(({ kind }) => kind !== ts.SyntaxKind.UndefinedKeyword)
  return ts.factory.createUnionTypeNode(types)
}

/** The texts of the files, by their paths. An empty one declares nothing that is reached. */
function keepReached({ files, checker }: Declared): Map<string, string> {
  const ownSymbols = new Map<ts.Statement, ts.Symbol[]>()

  /** The symbols that a statement names, those of its own imports too. */
  function symbolsIn(statement: ts.Statement): ts.Symbol[] {
    const known = ownSymbols.get(statement)
    if (known !== undefined) return known
    const found: ts.Symbol[] = []
    const visit = (node: ts.Node) => {
      const symbol = ts.isIdentifier(node) ? checker.getSymbolAtLocation(node) : undefined
      if (symbol !== undefined) found.push(symbol)
      ts.forEachChild(node, visit)
    }
    visit(statement)
    ownSymbols.set(statement, found)
    return found
  }

  /** The statements of ours that declare a symbol. */
  function statementsOf(symbol: ts.Symbol): ts.Statement[] {
    const isAlias = (symbol.flags & ts.SymbolFlags.Alias) !== 0
    const { declarations = [] } = isAlias ? checker.getAliasedSymbol(symbol) : symbol
    return declarations.flatMap((declaration) => {
      const file = declaration.getSourceFile()
      if (!isOurs(file)) return []
      if (ts.isSourceFile(declaration)) return exportsOf(file)
      return file.statements.filter(
        ({ pos, end }) => pos <= declaration.pos && declaration.end <= end,
      )
    })
  }

  function exportsOf(file: ts.SourceFile): ts.Statement[] {
    const symbol = checker.getSymbolAtLocation(file)
    return symbol === undefined ? [] : checker.getExportsOfModule(symbol).flatMap(statementsOf)
  }

  const namedIn = (statement: ts.Statement) => symbolsIn(statement).flatMap(statementsOf)

  const isDoor = ({ fileName }: ts.SourceFile) => doors.includes(fileName)
  const exported = files.filter(isDoor).flatMap(exportsOf)
  // They change the types of Fastify.
  const augmentations = files.flatMap(({ statements }) => statements.filter(ts.isModuleDeclaration))
  const seen = [...exported, ...augmentations]
  // Comments help who writes an application: those of what is exported, and of what that names.
  const documented = new Set([...seen, ...seen.flatMap(namedIn)])
  const reached = new Set(documented)
  // A set that grows while it is walked is walked to its end.
  for (const statement of reached) for (const named of namedIn(statement)) reached.add(named)

  return new Map(
    files.map((file) => {
      const kept = file.statements.filter((each) => reached.has(each))
      const used = new Set(kept.flatMap(symbolsIn).flatMap(({ declarations = [] }) => declarations))
      const texts = file.statements.map((each) => {
        if (ts.isImportDeclaration(each)) return importText(each, used)
        const isExport = ts.isExportDeclaration(each)
        if (isExport) return namedIn(each).some((named) => reached.has(named)) ? each.getText() : ''
        if (!reached.has(each)) return ''
        if (documented.has(each)) return each.getFullText().trim()
        return printer.printNode(ts.EmitHint.Unspecified, each, file)
      })
      const text = texts.filter((each) => each !== '').join('\n')
      // TypeScript takes such a specifier everywhere.
      return [file.fileName, text.replaceAll(/(["']\.[^"']+)\.ts(["'])/g, '$1.js$2')] as const
    }),
  )
}

/** Without the names that are not used. */
function importText(declaration: ts.ImportDeclaration, used: ReadonlySet<ts.Declaration>): string {
  const { importClause, moduleSpecifier } = declaration
  if (importClause === undefined) return declaration.getText()
  const { name, namedBindings } = importClause
  const from = `from ${moduleSpecifier.getText()};`
  const names = namedBindings && ts.isNamedImports(namedBindings) ? namedBindings.elements : []
  const kept = names
    .filter((each) => used.has(each))
    .map((each) => each.getText().replace(/^type /, ''))
  const others = [
    ...(name !== undefined && used.has(importClause) ? [name.text] : []),
    ...(namedBindings && ts.isNamespaceImport(namedBindings) && used.has(namedBindings)
      ? [namedBindings.getText()]
      : []),
    ...(kept.length > 0 ? [`{ ${kept.join(', ')} }`] : []),
  ]
  return others.length > 0 ? `import type ${others.join(', ')} ${from}` : ''
}

/** What changes the types of Fastify stays within the reach of each entry point that led to it. */
function keepAugmentations(sources: readonly ts.SourceFile[]): void {
  const before = new Map(sources.map(({ fileName, text }) => [fileName, text]))
  for (const door of doors) {
    for (const path of reachedFrom(door, before)) {
      if (!files.get(path)?.includes('declare module')) continue
      if (reachedFrom(door, files).has(path)) continue
      const specifier = relative(dirname(door), path).replace(/^(?!\.)/, './')
      files.set(door, `import '${specifier.replace(/\.d\.ts$/, '.js')}';\n${files.get(door)}`)
    }
  }
}

/** The files that a file imports, and those that they import. */
function reachedFrom(door: string, texts: ReadonlyMap<string, string>): ReadonlySet<string> {
  const found = new Set([door])
  for (const path of found) {
    const specifiers = (texts.get(path) ?? '').matchAll(/\b(?:from|import)\b[ (]*["'](\.[^"']+)/g)
    for (const [, specifier = ''] of specifiers) {
      found.add(resolve(dirname(path), specifier.replace(/\.[jt]s$/, '.d.ts')))
    }
  }
  return found
}
