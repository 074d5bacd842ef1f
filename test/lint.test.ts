import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { appendFile, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { after, before, test } from 'node:test'

const root = resolve(import.meta.dirname, '..')

/** The floors of the house, from the ground up. What stands on one line stands side by side. */
const HOUSE = [
  ['errors.ts'],
  ['remote/'],
  ['identity/'],
  ['tenancy/'],
  ['authenticators/', 'settings/', 'claims/'],
  ['routes/', 'settings/', 'claims/'],
  ['compose.ts', 'claims/'],
  ['service.ts', 'claims/'],
  ['plugin.ts', 'claims/'],
]

/** Doors: they may open on any floor, and no floor leads to them. */
const DOORS = ['index.ts', 'testing.ts']

/** The door of claims/. A file of identity/ has its name, so no pattern can keep the floors below from it by name. */
const SIDE_DOORS = ['claims.ts']

/** What the linter calls it. */
const RULE = 'lint/style/noRestrictedImports'

const FLOORS = [...new Set(HOUSE.flat())]

let copy: string
before(async () => {
  copy = await mkdtemp(join(tmpdir(), 'tenant-auth-lint-'))
})
after(() => rm(copy, { recursive: true }))

test('every file of lib/ stands on a floor that the linter knows', async () => {
  const entries = await readdir(join(root, 'lib'), { withFileTypes: true })
  const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
  assert.deepEqual(names.sort(), [...FLOORS, ...DOORS, ...SIDE_DOORS].sort())
})

test('as it stands, lib/ imports downwards only', async () => {
  const house = await tree()
  assert.deepEqual(await restrictedImports(house), [])
})

test('an import of a floor above is refused, from every floor', async () => {
  const house = await tree()
  const expected: string[] = []
  for (const floor of FLOORS) {
    const file = join('lib', floor.endsWith('/') ? `${floor}offender.ts` : floor)
    const lines = above(floor).map((other) => `import '${pathTo(file, other)}'`)
    expected.push(...lines.map((line) => `${file}: ${line}`))
    await appendFile(join(house, file), `\n${lines.join('\n')}\n`)
  }
  const refused = await restrictedImports(house)
  const passed = expected.filter((line) => !refused.includes(line))
  assert.deepEqual(passed, [], 'these upward imports pass')
  assert.deepEqual(refused, expected.sort(), 'imports are refused that point downwards')
  assert.ok(expected.length > 50, 'the table of floors came out short')
})

test('an upward import is refused in every form', async () => {
  const house = await tree()
  const lines = [
    `import { AuthService } from '../../service.ts'`,
    `import type { AuthOptions } from '../../settings/options.ts'`,
    `export * from '../../index.ts'`,
    `export type { AuthService as Service } from '../../service.ts'`,
    `export const late = () => import('../../plugin.ts')`,
  ]
  const file = 'lib/routes/openapi/offender.ts'
  await mkdir(join(house, dirname(file)), { recursive: true })
  await writeFile(join(house, file), `${lines.join('\n')}\n`)
  assert.deepEqual(await restrictedImports(house), lines.map((line) => `${file}: ${line}`).sort())
})

test('below routes/ nothing imports what makes a Fastify plugin', async () => {
  const house = await tree()
  const line = `import fp from 'fastify-plugin'`
  const floors = ['remote', 'identity', 'tenancy', 'authenticators', 'settings']
  const files = floors.map((floor) => `lib/${floor}/offender.ts`)
  for (const file of files) await writeFile(join(house, file), `${line}\nexport { fp }\n`)
  assert.deepEqual(await restrictedImports(house), files.map((file) => `${file}: ${line}`).sort())
})

test('an upward import fails the lint command', async () => {
  const house = await tree()
  await writeFile(join(house, 'lib/remote/offender.ts'), `import '../service.ts'\n`)
  const { status, stderr } = await biome(house, ['check', '--error-on-warnings'])
  assert.notEqual(status, 0)
  assert.match(stderr, /noRestrictedImports/)
  assert.match(stderr, /Imports only point downwards/)
})

/** A copy of what the linter reads, outside the repository: nothing that is written there can be left behind. */
async function tree(): Promise<string> {
  const house = await mkdtemp(join(copy, 'house-'))
  for (const name of ['.biome.json', '.gitignore', 'lib', 'test/bare-assert.grit']) {
    await cp(join(root, name), join(house, name), { recursive: true })
  }
  return house
}

/** The floors that this one must not know: those above it, those beside it, and the doors. */
function above(floor: string): string[] {
  const highest = HOUSE.findLastIndex((names) => names.includes(floor))
  const beside = HOUSE.filter((names) => names.includes(floor)).flat()
  const higher = HOUSE.slice(highest + 1).flat()
  return [...new Set([...beside, ...higher, ...DOORS])].filter((other) => other !== floor)
}

function pathTo(file: string, floor: string): string {
  const target = join('lib', floor.endsWith('/') ? `${floor}anything.ts` : floor)
  const path = relative(dirname(file), target)
  return path.startsWith('.') ? path : `./${path}`
}

interface Report {
  readonly diagnostics: readonly {
    readonly category: string
    readonly location: { readonly path: string; readonly start: { readonly line: number } }
  }[]
}

/** What the linter says of imports, each as `<file>: <the line>`, sorted. */
async function restrictedImports(house: string): Promise<string[]> {
  const { stdout } = await biome(house, ['lint', '--reporter=json', '--max-diagnostics=none'])
  const report: Report = JSON.parse(stdout)
  const found = report.diagnostics.filter(({ category }) => category === RULE)
  const lines = found.map(async ({ location: { path, start } }) => {
    const text = await readFile(join(house, path), 'utf8')
    return `${path}: ${text.split('\n')[start.line - 1]}`
  })
  return (await Promise.all(lines)).sort()
}

interface Ended {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

function biome(cwd: string, options: string[]): Promise<Ended> {
  const packageFile = createRequire(import.meta.url).resolve('@biomejs/biome/package.json')
  const command = [join(dirname(packageFile), 'bin/biome'), ...options]
  return new Promise((settle) => {
    execFile(process.execPath, command, { cwd, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      settle({ status: error === null ? 0 : 1, stdout, stderr })
    })
  })
}
