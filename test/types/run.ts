import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { codeBlocks } from '../helpers/documents/markdown.ts'
import { PAGE_APPLICATIONS, writeApplication } from '../helpers/documents/page-application.ts'
import { guide } from '../helpers/documents/pages.ts'

// Compiles the files here under the oldest TypeScript, the last one of its major version, the usual
// and the newest one. They use the declarations in dist/, as an application does, with our own
// compiler settings and with common others.

const root = resolve(import.meta.dirname, '../..')

interface Project {
  readonly config: string
  /** Of a project that compiles them alone. */
  readonly files?: readonly string[]
  readonly options?: readonly string[]
}

const PROJECTS: readonly Project[] = [
  { config: 'test/types/tsconfig.json' },
  { config: 'test/types/consumer/tsconfig.json' },
  { config: 'test/types/consumer/tsconfig.bundler.json' },
]

/** An application of ES modules, which every TypeScript since 5.0 understands. */
const MODULES: readonly Project[] = [
  ['node16', 'node16'],
  ['nodenext', 'nodenext'],
  ['esnext', 'bundler'],
].map(([module = '', resolution = '']) => ({
  config: 'test/types/consumer/tsconfig.modules.json',
  files: ['module.mts'],
  options: ['--module', module, '--moduleResolution', resolution],
}))

/** It does not know all types that Fastify's own declarations use. */
const OLDEST = 'typescript-oldest'

/** Beside other compilers its threads only do the same work several times. */
const NEWEST = 'typescript-newest'

/** Its declarations can name the types alone that the package exports, if that is installed. */
const INFERRED = 'inferred-exports.ts'

/** The applications of the guides, each in a folder that has installed what is built. */
const applications = await Promise.all(PAGE_APPLICATIONS.map(installed))
const APPLICATIONS: readonly Project[] = applications.map((config) => ({
  config,
  options: ['--declaration', '--emitDeclarationOnly'],
}))

const ALL = [...PROJECTS, ...MODULES, ...APPLICATIONS]

/** `--all`, as weekly: the versions between the oldest and the newest compile everything, too. */
const isWhole = process.argv.includes('--all')

/** Packages of this repository that hold a compiler. */
const COMPILERS: Readonly<Record<string, readonly Project[]>> = {
  [OLDEST]: MODULES,
  'typescript-former': isWhole ? ALL : [],
  typescript: isWhole ? ALL : PROJECTS.slice(0, 2),
  [NEWEST]: ALL,
}

/**
 * A run must have looked at SUBJECT, and must not have looked at SOURCE. Without a build it would
 * use the source.
 */
const SUBJECT = 'dist/index.d.ts'
const SOURCE = 'lib/index.ts'

const runs = Object.entries(COMPILERS).map(([compiler, projects]) => ({ compiler, projects }))
const failures = (await Promise.all(runs.map(checkProjects))).flat()
for (const failure of failures)
  console.error(`
${failure}`)
const checks = runs.flatMap(({ projects }) => projects).length
console.log(`type tests: ${checks - failures.length} of ${checks} runs passed`)
if (failures.length > 0) process.exitCode = 1
for (const folder of applications) await rm(folder, { recursive: true })

async function installed(name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `${name.replaceAll('/', '-')}-`))
  writeApplication(name, folder)
  await copyFile(join(import.meta.dirname, INFERRED), join(folder, 'src', INFERRED))
  const config = join(folder, 'tsconfig.json')
  if (!existsSync(config)) {
    // An application that moves in has settings of its own: those of the other guide.
    const blocks = codeBlocks(guide('guides/saas-backend'))
    await writeFile(config, blocks.find(({ file }) => file === 'tsconfig.json')?.text ?? '')
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  }
  const modules = join(folder, 'node_modules')
  await mkdir(modules)
  for (const entry of await readdir(join(root, 'node_modules'))) {
    await symlink(join(root, 'node_modules', entry), join(modules, entry))
  }
  await symlink(root, join(modules, 'fastify-tenant-auth'))
  return folder
}

async function checkProjects({ compiler, projects }: (typeof runs)[number]): Promise<string[]> {
  const tsc = join(
    dirname(createRequire(import.meta.url).resolve(`${compiler}/package.json`)),
    'bin/tsc',
  )
  const { output: version } = await run(tsc, ['--version'])
  const failed: string[] = []
  for (const project of projects) {
    const { config, options = [] } = project
    const threads = compiler === NEWEST ? ['--singleThreaded'] : []
    const words = ['-p', config, ...options, ...threads, '--listFiles', '--pretty', 'false']
    const { output, status } = await run(tsc, words)
    const lines = output.split('\n')
    const errors = errorsOf(lines, compiler === OLDEST)
    const hasPassed = status === 0 || (compiler === OLDEST && errors === '')
    const problem = hasPassed ? await unchecked(lines, project) : errors
    const name = [compiler, `(${version.trim()})`, config, ...options].join(' ')
    console.log(`${problem === '' ? 'ok    ' : 'FAILED'} ${name}`)
    if (problem !== '') failed.push(`${name}\n${problem}`)
  }
  return failed
}

/**
 * What a successful run should have looked at and has not. A run that checks no file succeeds too.
 */
async function unchecked(lines: string[], { config, files }: Project): Promise<string> {
  const seen = new Set(lines.map((line) => relative(root, line)))
  // An application is named by its folder, and has its files in one of them.
  const isProject = config.endsWith('.json')
  const folder = isProject ? dirname(config) : join(relative(root, config), 'src')
  const tests = (files ?? (await readdir(join(root, folder), { recursive: !isProject })))
    .filter((name) => /\.[cm]?[jt]s$/.test(name))
    .map((name) => join(folder, name))
  const missed = [...tests, SUBJECT].filter((file) => !seen.has(file))
  if (tests.length === 0) return `there is no test in ${folder}`
  if (missed.length > 0) return `not checked: ${missed.join(', ')}`
  return seen.has(SOURCE) ? `checked the source, not what is built of it: ${SOURCE}` : ''
}

/** @param leavesOut whether errors in the declarations of other packages are left out */
function errorsOf(lines: string[], leavesOut: boolean): string {
  const reported = lines.filter((line) => line.startsWith(' ') || /error TS\d+/.test(line))
  if (leavesOut) return reported.filter((line) => !/^(?: |node_modules\/)/.test(line)).join('\n')
  return reported.length > 0 ? reported.join('\n') : 'the compiler failed and said nothing'
}

async function run(tsc: string, options: string[]): Promise<{ output: string; status: number }> {
  const child = spawn(process.execPath, [tsc, ...options], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<number>((settle, fail) => {
    child.once('error', fail)
    child.once('close', (code) => settle(code ?? 1))
  })
  const output = await text(child.stdout)
  return { output, status: await ended }
}
