import { readFileSync } from 'node:fs'
import type { BuildOptions } from 'esbuild'

const manifest: {
  readonly dependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
} = JSON.parse(readFileSync('package.json', 'utf8'))

const doors = ['testing', 'claims', 'introspection', 'revocation', 'certificates', 'cli'] as const

/** One program for each entry point, and what several of them share. */
export const BUNDLE = {
  entryPoints: {
    index: 'lib/index.ts',
    ...Object.fromEntries(
      doors.map((name) => [`entrypoints/${name}/index`, `lib/entrypoints/${name}/index.ts`]),
    ),
    // The command finds it beside itself.
    'entrypoints/cli/preload': 'lib/entrypoints/cli/observe/preload.ts',
  },
  chunkNames: 'shared/[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'es2023',
  external: Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }),
  logLevel: 'warning',
} as const satisfies BuildOptions
