import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { decode, encode, type SourceMapSegment } from '@jridgewell/sourcemap-codec'
import { buildSync, transformSync } from 'esbuild'
import { BUNDLE } from './bundle-options.ts'

// A step of `npm run build`: one program for each entry point, and what several of them share. So
// an import loads a handful of modules.

const { metafile } = buildSync({
  ...BUNDLE,
  outdir: 'dist',
  minifyWhitespace: true,
  minifySyntax: true,
  // The package stays below its limit of size.
  minifyIdentifiers: true,
  legalComments: 'none',
  sourcemap: 'linked',
  sourcesContent: false,
  metafile: true,
})

const COMMAND = 'dist/entrypoints/cli/index.js'
if (metafile.outputs[COMMAND]?.inputs['lib/entrypoints/cli/observe/run-program.ts'] === undefined) {
  throw new Error('the command does not find the module that it loads into programs')
}
chmodSync(COMMAND, 0o755)

const outputs = Object.entries(metafile.outputs)
for (const [path] of outputs) if (path.endsWith('.js')) breakLines(path)

/**
 * A source map of the lines alone is a tenth of one of all names and columns. Where a line of the
 * source begins, the code has a line break too, if it may have one, so that the map repeats itself.
 */
function breakLines(path: string): void {
  const code = readFileSync(path, 'utf8')
  const map: { sources: string[]; mappings: string } = JSON.parse(
    readFileSync(`${path}.map`, 'utf8'),
  )
  const lines: string[] = []
  const mappings: SourceMapSegment[][] = []
  for (const [index, text] of code.split('\n').entries()) {
    let [start, last]: [number, SourceMapSegment | undefined] = [0, undefined]
    let current: SourceMapSegment[] = []
    for (const segment of decode(map.mappings)[index] ?? []) {
      const [column, source, line] = segment
      if (source === undefined || (source === last?.[1] && line === last[2])) continue
      last = segment
      // Nowhere else do a line break and none mean the same for certain.
      if (/[;{},(]/.test(text[column - 1] ?? '')) {
        lines.push(text.slice(start, column))
        mappings.push(current)
        ;[start, current] = [column, []]
      }
      current.push([column - start, source, line ?? 0, 0])
    }
    lines.push(text.slice(start))
    mappings.push(current)
  }
  const broken = lines.join('\n')
  const compact = (text: string) => transformSync(text, { minifyWhitespace: true }).code
  if (compact(broken) !== compact(code)) throw new Error(`${path}: a line break changed the code`)
  writeFileSync(path, broken)
  const { sources } = map
  writeFileSync(
    `${path}.map`,
    JSON.stringify({ version: 3, sources, names: [], mappings: encode(mappings) }),
  )
}

/** MIT and its like: the notice goes with the code. */
const compiledIn = new Set(
  outputs
    .flatMap(([, { inputs }]) => Object.entries(inputs))
    .flatMap(([path, { bytesInOutput }]) => {
      const [, name] = /.*\bnode_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path) ?? []
      return name === undefined || bytesInOutput === 0 ? [] : [name]
    }),
)
const notices = [...compiledIn].map((name) => {
  const folder = `node_modules/${name}`
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each))
  if (file === undefined) throw new Error(`${name} has no notice of its license`)
  return `Code of ${name} is compiled in.\n\n${readFileSync(`${folder}/${file}`, 'utf8').trim()}\n`
})
writeFileSync('dist/NOTICE.txt', notices.join('\n'))
