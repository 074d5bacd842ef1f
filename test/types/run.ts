import { spawn } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { text } from 'node:stream/consumers'

// Holds the types to what the files here say, under the oldest, the usual and the newest TypeScript: as an application
// gets them, from the declarations in dist/, with the settings of this house and with those that others have.

const root = resolve(import.meta.dirname, '../..')

/** Packages of this repository's own that hold a compiler. */
const COMPILERS = ['typescript-oldest', 'typescript', 'typescript-newest']

const PROJECTS = [
  'test/types/tsconfig.json',
  'test/types/consumer/tsconfig.json',
  'test/types/consumer/tsconfig.bundler.json',
]

/** What every run must have looked at, and what none may have: where nothing was built, it would be the source. */
const SUBJECT = 'dist/index.d.ts'
const SOURCE = 'lib/index.ts'

const failures = (await Promise.all(COMPILERS.map(checkProjects))).flat()
for (const failure of failures) console.error(`\n${failure}`)
const checks = COMPILERS.length * PROJECTS.length
console.log(`type tests: ${checks - failures.length} of ${checks} runs passed`)
if (failures.length > 0) process.exitCode = 1

async function checkProjects(compiler: string): Promise<string[]> {
  const tsc = join(
    dirname(createRequire(import.meta.url).resolve(`${compiler}/package.json`)),
    'bin/tsc',
  )
  const { output: version } = await run(tsc, ['--version'])
  const failed: string[] = []
  for (const config of PROJECTS) {
    const { output, status } = await run(tsc, ['-p', config, '--listFiles', '--pretty', 'false'])
    const lines = output.split('\n')
    const problem = status === 0 ? await unchecked(lines, config) : errorsOf(lines)
    const name = `${compiler} (${version.trim()}) ${config}`
    console.log(`${problem === '' ? 'ok    ' : 'FAILED'} ${name}`)
    if (problem !== '') failed.push(`${name}\n${problem}`)
  }
  return failed
}

/** What a run that was content ought to have looked at and has not: a run that checks no file is content as well. */
async function unchecked(lines: string[], config: string): Promise<string> {
  const seen = new Set(lines.map((line) => relative(root, line)))
  const folder = dirname(config)
  const tests = (await readdir(join(root, folder)))
    .filter((name) => /\.[cm]?[jt]s$/.test(name))
    .map((name) => join(folder, name))
  const missed = [...tests, SUBJECT].filter((file) => !seen.has(file))
  if (tests.length === 0) return `there is no test in ${folder}`
  if (missed.length > 0) return `not checked: ${missed.join(', ')}`
  return seen.has(SOURCE) ? `checked the source, not what is built of it: ${SOURCE}` : ''
}

function errorsOf(lines: string[]): string {
  const told = lines.filter((line) => line.startsWith(' ') || /error TS\d+/.test(line))
  return told.length > 0 ? told.join('\n') : 'the compiler failed and said nothing'
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
