import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { buildSync } from 'esbuild'

const root = resolve('.')

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
}

/**
 * A folder like that of an application which has installed this package, and its command. It is
 * built without declarations, which take seconds.
 *
 * @param folder an empty one
 * @returns the path of the command
 */
export function installBuilt(folder: string): string {
  const modules = join(folder, 'node_modules')
  const own = join(modules, 'fastify-tenant-auth')
  mkdirSync(own, { recursive: true })
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (!name.startsWith('.')) symlinkSync(join(root, 'node_modules', name), join(modules, name))
  }
  symlinkSync(join(root, 'package.json'), join(own, 'package.json'))
  const manifest: Manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const exported = Object.values(manifest.exports)
    .flatMap((target) => (typeof target === 'string' ? [] : [target.default]))
    .map((file) => file.replace(/^\.\/dist\/(.*)\.js$/, '$1'))
  buildSync({
    entryPoints: {
      ...Object.fromEntries(exported.map((name) => [name, join(root, `lib/${name}.ts`)])),
      'entrypoints/cli/index': join(root, 'lib/entrypoints/cli/index.ts'),
      'entrypoints/cli/preload': join(root, 'lib/entrypoints/cli/observe/preload.ts'),
    },
    outdir: join(own, 'dist'),
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'es2023',
    external: Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }),
    keepNames: true,
    logLevel: 'warning',
  })
  return join(own, 'dist/entrypoints/cli/index.js')
}
