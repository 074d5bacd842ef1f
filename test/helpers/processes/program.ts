import { existsSync } from 'node:fs'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = new URL('../../../', import.meta.url)
const EXTENSION = extname(import.meta.url)

/** What loads programs that are not compiled. */
export const LOADER: readonly string[] = EXTENSION === '.ts' ? ['--import', 'tsx'] : []

/**
 * The file of a program, as this process runs its own files: the source, or what `npm run unit`
 * has compiled of it.
 *
 * @param source its path from the root of the repository, such as `lib/entrypoints/cli/index.ts`
 */
export function programFile(source: string): string {
  return fileURLToPath(new URL(source.replace(/\.ts$/, EXTENSION), ROOT))
}

/** What Node is given to run a program. */
export function runs(source: string): string[] {
  return [...LOADER, programFile(source)]
}

/**
 * The file of a program of `children/`. `npm run compile` puts each one that is started again and
 * again, with its packages, into one file, which is loaded in half the time. Where coverage is
 * measured, it runs the files that are to be covered.
 */
export function onceBundled(name: string): string {
  const bundled = fileURLToPath(new URL(`programs/${name}.js`, ROOT))
  const isBundled = process.env['NODE_V8_COVERAGE'] === undefined && existsSync(bundled)
  return isBundled ? bundled : programFile(`test/helpers/processes/children/${name}.ts`)
}
