import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { decode, encode, type SourceMapSegment } from '@jridgewell/sourcemap-codec'
import { buildSync, transformSync } from 'esbuild'
import { minify } from 'terser'
import { BUNDLE } from './bundle-options.ts'

// A step of `npm run build`: one program for each entry point, and what several of them share. So
// an import loads a handful of modules.

const { metafile } = buildSync({
  ...BUNDLE,
  outdir: 'dist',
  minifySyntax: true,
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
for (const [path] of outputs) {
  if (!path.endsWith('.js')) continue
  await shorten(path)
  breakLines(path)
}

/**
 * Short identifiers, so that the package stays below its limit of size, but for the names of classes
 * and functions, which logs and stack traces show. The bundler would keep those by a call for each
 * function, each time that one is made: some ten in a request with a check.
 */
async function shorten(path: string): Promise<void> {
  const bundled = readFileSync(path, 'utf8')
  // The bundler makes `Name = class` of a class, and `class _Name` of one that uses its own name.
  const own = new Set(bundled.match(/(?<=\b(\w+) = class )_\1\b/g))
  const named = bundled
    .replace(/\b(\w+) = class(?: _\1)?\b/g, '$1 = class $1')
    .replace(/\b_\w+/g, (name) => (own.has(name) ? name.slice(1) : name))
  const { code = '', map } = await minify(named, {
    module: true,
    compress: false,
    mangle: { keep_classnames: true, keep_fnames: true },
    format: { comments: false },
    sourceMap: { content: readFileSync(`${path}.map`, 'utf8'), url: `${basename(path)}.map` },
  })
  writeFileSync(path, code)
  writeFileSync(`${path}.map`, String(map))
}

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
