import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'

/** The repository that the tests run in. Nothing is written into it. */
export const root = resolve('.')

export interface Manifest {
  readonly version: string
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>
  readonly bin: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
  readonly scripts: Readonly<Record<string, string>>
  /** Packages whose scripts npm 11 is to run, or not to run, when it installs them. */
  readonly allowScripts: Readonly<Record<string, boolean>>
}

/** What `npm pack --json` prints. */
export interface Packed {
  readonly filename: string
  /** Bytes of the archive. */
  readonly size: number
  readonly files: readonly { readonly path: string }[]
}

export async function readManifest(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
}

/** A copy of the repository, like a fresh clone, with its dependencies and without built files. */
export async function cloneInto(folder: string): Promise<string> {
  const clone = await mkdtemp(join(folder, 'clone-'))
  const left = ['.git', 'node_modules', 'dist', 'coverage', '.compiled']
  // `npm run check:package` packs one too, and may do it at the same time.
  const filter = (path: string) => !left.includes(basename(path)) && !path.endsWith('.tgz')
  await cp(root, clone, { recursive: true, filter })
  await symlink(join(root, 'node_modules'), join(clone, 'node_modules'))
  return clone
}

/** What `npm pack` makes of a clone. */
export async function packInto(folder: string): Promise<Packed> {
  const clone = await cloneInto(folder)
  const options = ['--json', '--foreground-scripts=false', '--pack-destination', folder]
  const [packed]: Packed[] = JSON.parse(await run(clone, 'npm', ['pack', ...options]))
  if (packed === undefined) throw new Error('npm packed nothing')
  return packed
}

/**
 * What `npm publish` would send, as JSON, for a user whose npm runs no scripts.
 *
 * @param flags those of the release workflow
 */
export async function publishedFrom(clone: string, flags: readonly string[] = []): Promise<string> {
  const userconfig = join(clone, '..', 'npmrc')
  await writeFile(userconfig, 'ignore-scripts=true\n')
  // No server listens there. A forced dry run asks no registry.
  const nowhere = ['--registry=http://127.0.0.1:9/', '--force', '--dry-run']
  const options = [
    ...flags,
    ...nowhere,
    '--foreground-scripts=false',
    `--userconfig=${userconfig}`,
    '--json',
  ]
  return run(clone, 'npm', ['publish', ...options])
}

/**
 * A new folder below `folder` with the packed archive and its dependencies installed, and no other
 * package.
 */
export async function installIn(
  folder: string,
  { filename }: Packed,
  host: string,
): Promise<string> {
  const app = await mkdtemp(join(folder, 'app-'))
  const target = join(app, 'node_modules/fastify-tenant-auth')
  await mkdir(target, { recursive: true })
  await run(folder, 'tar', ['-xzf', filename, '-C', target, '--strip-components=1'])
  const { dependencies } = await readManifest(target)
  for (const name of Object.keys(dependencies)) await link(app, name)
  await link(app, 'fastify', host)
  return app
}

/** Gives an application one of this repository's packages, under another name if one is given. */
export async function link(app: string, name: string, installed = name): Promise<void> {
  const path = join(app, 'node_modules', name)
  await mkdir(dirname(path), { recursive: true })
  await symlink(join(root, 'node_modules', installed), path)
}

/** Runs a script in an application's folder. Returns the JSON that it prints. */
export async function runScript(app: string, name: string, script: string): Promise<unknown> {
  await writeFile(join(app, name), script)
  return JSON.parse(await run(app, process.execPath, [name]))
}

/** Runs a compiler in a folder, with the tsconfig.json there. Returns what it prints. */
export function tsc(
  folder: string,
  compiler = 'typescript',
  ...options: string[]
): Promise<string> {
  const path = join(root, 'node_modules', compiler, 'bin/tsc')
  return run(folder, process.execPath, [path, ...options])
}

/**
 * Without the environment that npm and Node gave to the test process. Rejects with what was
 * printed.
 */
async function run(cwd: string, command: string, options: string[]): Promise<string> {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_)/i.test(name)),
  )
  const ended = promisify(execFile)(command, options, { cwd, env, maxBuffer: 2 ** 26 })
  const { stdout } = await ended.catch((error: { stdout: string; stderr: string }) => {
    throw new Error(`${command} ${options.join(' ')}: ${error.stdout}${error.stderr}`)
  })
  return stdout
}
