import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

// A step of `npm run build`: declarations that no door of the package leads to describe what
// no application can import. They would be a fifth of what is published.

const doors = Object.values<{ readonly types?: string }>(
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
const kept = new Set(doors)
for (const file of kept) for (const imported of importsOf(file)) kept.add(imported)

for (const name of readdirSync('dist', { recursive: true, encoding: 'utf8' })) {
  const file = join('dist', name)
  if (file.endsWith('.d.ts') && !kept.has(file)) rmSync(file)
}
