import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import ts from 'typescript'

// A step of `npm run build`: declarations that no entry point leads to describe what
// no application can import. They would be a fifth of what is published.

const entryPoints = Object.values<{ readonly types?: string }>(
  JSON.parse(readFileSync('package.json', 'utf8')).exports,
).flatMap(({ types }) => (types === undefined ? [] : [normalize(types)]))

/** The declarations that a declaration imports. */
function importsOf(file: string): string[] {
  const specifiers = readFileSync(file, 'utf8').matchAll(
    /\b(?:from|import)\s*\(?\s*["'](\.[^"']+)/g,
  )
  return [...specifiers].map(([, specifier = '']) =>
    join(dirname(file), specifier.replace(/\.[jt]s$/, '.d.ts')),
  )
}

// A set that grows while it is walked is walked to its end.
const kept = new Set(entryPoints)
for (const file of kept) for (const imported of importsOf(file)) kept.add(imported)

for (const name of readdirSync('dist', { recursive: true, encoding: 'utf8' })) {
  const file = join('dist', name)
  if (file.endsWith('.d.ts') && !kept.has(file)) rmSync(file)
}

// Comments help who writes an application: those of what an entry point exports.
const exported = new Set([...entryPoints, ...entryPoints.flatMap(importsOf)])
const printer = ts.createPrinter({ removeComments: true })
for (const file of kept) {
  if (exported.has(file)) continue
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest)
  writeFileSync(file, printer.printFile(source))
}
