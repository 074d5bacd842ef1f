import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { buildSync } from 'esbuild'

// Test files that share a process. To start one for each file, and to read what each has covered,
// takes longer than most tests do. A group is a program that runs file after file, and a test that
// fails is named with its own file.

/** They start servers and a browser, and wait for them. */
const END_TO_END = ['e2e/']

/**
 * They look at what a process does first, or change what all code in it sees, or are long: those
 * begin first, so that no processor is without work at the end.
 */
const ALONE = [
  'behaviour/made-before.test.ts',
  'behaviour/polluted-prototype.test.ts',
  'bench/',
  'config/option-docs.test.ts',
  'ecosystem/database.test.ts',
  'ecosystem/fastify.test.ts',
  'ecosystem/otel.test.ts',
  'entrypoints/cli/observe/',
  'examples/introspection.test.ts',
  'examples/notes.test.ts',
  'examples/saas-backend.test.ts',
  'examples/traces.test.ts',
  'identity/authorization/current-authorization.test.ts',
  'identity/authorization/immutable-set.test.ts',
  // Their clocks stand still, and most of them are long.
  'processes/',
  ...END_TO_END,
]

/** They are long too, and nothing hinders them from sharing a process with a few of their kind. */
const BY_FOUR = ['properties/']

/** Tests of whole programs and of tools, and those that are long. */
const REST = [
  'behaviour/polluted-prototype.test.ts',
  'bench/',
  'config/option-docs.test.ts',
  'ecosystem/',
  'entrypoints/cli/observe/',
  'examples/',
  'processes/',
  'properties/',
  'soak/',
]

/** Programs that tests start again and again. In one file each, they are loaded in half the time. */
const PROGRAMS = ['closing-app', 'guarded-app', 'idle-app', 'noted-proof', 'watched-program']

const FOLDER = process.argv[2] ?? '.compiled/groups'

/**
 * Each file is a suite, so that its hooks are for its own tests, and run after these. The next one
 * is loaded when all of that has ended: it may have moved a clock.
 */
const HEAD = `import { after, describe } from 'node:test'

const ended = (file) => (load) =>
  new Promise((resolve) => {
    describe(file, async () => {
      await load()
      after(resolve)
    })
  })
`

const files = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.(?:test|e2e)\.ts$/.test(name))
  .sort()
const isOneOf = (places: readonly string[]) => (file: string) =>
  places.some((place) => file.startsWith(place))
const isAlone = isOneOf(ALONE)
const isByFour = isOneOf(BY_FOUR)

rmSync(FOLDER, { recursive: true, force: true })
mkdirSync(FOLDER, { recursive: true })
// Schemas, INI files and the like stand beside the tests and examples that read them.
cpSync('test', '.compiled/test', { recursive: true, filter: (name) => !/\.(ts|grit)$/.test(name) })
buildSync({
  entryPoints: PROGRAMS.map((name) => `.compiled/test/helpers/processes/children/${name}.js`),
  outdir: '.compiled/programs',
  bundle: true,
  format: 'esm',
  platform: 'node',
  // package.json says that no module has side effects. The program that watches is one.
  ignoreAnnotations: true,
  // Packages of CommonJS call it.
  banner: {
    js: `import { createRequire } from 'node:module'\nconst require = createRequire(import.meta.url)`,
  },
  // Packages that pg uses where they are installed.
  external: ['pg-native', 'pg-cloudflare'],
  tsconfigRaw: {},
  logLevel: 'warning',
})
const isLeftOut = isOneOf([...REST, ...END_TO_END])
write(
  'unit',
  16,
  files.filter((file) => !isLeftOut(file)),
)
write('rest', 10, files.filter(isOneOf(REST)))
write('e2e', 1, files.filter(isOneOf(END_TO_END)))

/** The more files share a process, the longer one processor may work alone at the end. */
function write(name: string, size: number, members: readonly string[]): void {
  const together = members.filter((file) => !isAlone(file))
  const groups = [
    ...inGroups(1, members.filter(isAlone)),
    ...inGroups(4, together.filter(isByFour)),
    ...inGroups(
      size,
      together.filter((file) => !isByFour(file)),
    ),
  ]
  for (const [index, group] of groups.entries()) {
    const lines = group.map(
      (file) => `await ended('${file}')(() => import('../test/${file.replace(/ts$/, 'js')}'))\n`,
    )
    const path = `${FOLDER}/${name}-${String(index).padStart(3, '0')}.js`
    writeFileSync(path, [HEAD, ...lines].join('\n'))
  }
}

function inGroups(size: number, files: readonly string[]): string[][] {
  return Array.from({ length: Math.ceil(files.length / size) }, (_, index) =>
    files.slice(index * size, (index + 1) * size),
  )
}
