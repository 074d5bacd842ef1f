import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import ts from 'typescript'

const root = resolve('.')

/**
 * A folder like that of an application which has installed this package, and its command. It is
 * built without a type check, which takes a second.
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
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
  const written = ts.convertCompilerOptionsFromJson(config.compilerOptions, root).options
  // A single file does not tell that package.json makes it a module.
  const compilerOptions = { ...written, module: ts.ModuleKind.ESNext }
  for (const name of readdirSync(join(root, 'lib'), { recursive: true }).map(String)) {
    if (!name.endsWith('.ts')) continue
    const text = readFileSync(join(root, 'lib', name), 'utf8')
    const target = join(own, 'dist', name.replace(/\.ts$/, '.js'))
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, ts.transpileModule(text, { compilerOptions, fileName: name }).outputText)
  }
  return join(own, 'dist/entrypoints/cli/index.js')
}
