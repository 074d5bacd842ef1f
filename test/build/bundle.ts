import { chmodSync, readFileSync } from 'node:fs'
import { buildSync } from 'esbuild'

// A step of `npm run build`: one program for each entry point, and what several of them share. So
// an import loads a handful of modules.

const manifest: {
  readonly dependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
} = JSON.parse(readFileSync('package.json', 'utf8'))

const doors = ['testing', 'claims', 'introspection', 'revocation', 'certificates', 'cli'] as const

const { metafile } = buildSync({
  entryPoints: {
    index: 'lib/index.ts',
    ...Object.fromEntries(
      doors.map((name) => [`entrypoints/${name}/index`, `lib/entrypoints/${name}/index.ts`]),
    ),
    // The command finds it beside itself.
    'entrypoints/cli/preload': 'lib/entrypoints/cli/observe/preload.ts',
  },
  outdir: 'dist',
  chunkNames: 'shared/[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'es2023',
  external: Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }),
  minifyWhitespace: true,
  minifySyntax: true,
  // The package stays below its limit of size. The names of errors and of plugins, which users see,
  // are those of classes and functions: they stay.
  minifyIdentifiers: true,
  keepNames: true,
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
})

const COMMAND = 'dist/entrypoints/cli/index.js'
if (metafile.outputs[COMMAND]?.inputs['lib/entrypoints/cli/observe/run-program.ts'] === undefined) {
  throw new Error('the command does not find the module that it loads into programs')
}
chmodSync(COMMAND, 0o755)
