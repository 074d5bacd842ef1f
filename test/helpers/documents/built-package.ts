import { mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { buildSync } from 'esbuild'
import { BUNDLE } from '../../build/bundle-options.ts'

const root = resolve('.')

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
  buildSync({ ...BUNDLE, outdir: join(own, 'dist') })
  return join(own, 'dist/entrypoints/cli/index.js')
}
