import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'

/** Where mutants are made. */
const ROOMS = [
  'platform',
  'identity/jwks',
  'identity/jwt',
  'identity/proofs',
  'identity/tenants',
  'identity/authorization',
  'identity/authentication',
  'routes',
  'config',
  'entrypoints/introspection',
  'entrypoints/revocation',
  'guard',
]

/**
 * What is asked for by `--mutate`. Its own tests run first: the nearest ones tell first. Then come
 * the tests of behaviour, and no others.
 */
const asked = process.argv.flatMap((word, index, words) =>
  word === '--mutate' || word === '-m' ? (words[index + 1] ?? '').split(',') : [],
)
const rooms = ROOMS.filter(
  (room) => asked.length === 0 || asked.some((path) => path.startsWith(`lib/${room}/`)),
)

/** Test files that share a process: to start one takes longer than most tests do. */
const TOGETHER = 8

/** They change what all code in a process sees, or look at what it does first. */
const ALONE = [
  'made-before.test.ts',
  'polluted-prototype.test.ts',
  'current-authorization.test.ts',
  'immutable-set.test.ts',
]

const GROUPS = '.stryker/groups'

const testsIn = (room) =>
  readdirSync(`test/${room}`, { recursive: true })
    .filter((name) => name.endsWith('.test.ts'))
    .sort()
    .map((name) => `test/${room}/${name.replace(/ts$/, 'js')}`)

/** As `test/build/group-tests.ts` does: a file is loaded when the tests of the one before have ended. */
function groupsOf(name, files) {
  return Array.from({ length: Math.ceil(files.length / TOGETHER) }, (_, index) => {
    const path = `${GROUPS}/${name}-${String(index).padStart(2, '0')}.mjs`
    const lines = files
      .slice(index * TOGETHER, (index + 1) * TOGETHER)
      .map((file) => `await import('../../.compiled/${file}')\nawait ended('${file}')`)
    writeFileSync(path, `${HEAD}\n${lines.join('\n')}\n`)
    return path
  })
}

const HEAD = `import { after, describe } from 'node:test'

const ended = (file) => new Promise((resolve) => describe(file, () => after(resolve)))
`

/**
 * `MUTATION_TESTS=room` leaves the tests of behaviour out, and `MUTATION_TESTS=bound-,reasons` all
 * but those of such names, which makes a first look several times as fast. What survives it is
 * asked for anew, by its places: `--mutate lib/a.ts:10:4-10:20`.
 */
const wanted = process.env.MUTATION_TESTS?.split(',') ?? ['']

const behaviour = testsIn('behaviour').filter((file) =>
  wanted.some((name) => file.startsWith(`test/behaviour/${name}`)),
)

const isAlone = (file) => ALONE.some((name) => file.endsWith(name.replace(/ts$/, 'js')))

rmSync(GROUPS, { recursive: true, force: true })
mkdirSync(GROUPS, { recursive: true })
const tests = [...rooms.map((room) => [room, testsIn(room)]), ['behaviour', behaviour]]
const testFiles = tests.flatMap(([room, files]) => {
  return [
    ...files.filter(isAlone).map((file) => `.compiled/${file}`),
    ...groupsOf(
      room.replaceAll('/', '-'),
      files.filter((file) => !isAlone(file)),
    ),
  ]
})

/**
 * Only what is compiled has the mutants. Tests that read the sources read them as they are. Stryker
 * links node_modules after the build.
 */
const COMPILE_AND_RESTORE =
  'ln -s ../../../node_modules . && npm run compile && rm node_modules && cp -R ../../../lib .'

/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
  mutate: ROOMS.map((room) => `lib/${room}/**/*.ts`),
  tempDirName: '.stryker/sandboxes',
  ignorePatterns: [
    ...['/.compiled', '/.stryker/sandboxes', '/.stryker/report.*', '/coverage', '/dist', '/docs'],
  ],
  disableTypeChecks: false,
  buildCommand: `sh -c ${COMPILE_AND_RESTORE.replaceAll(' ', '\\ ')}`,
  testRunner: 'tap',
  tap: { testFiles },
  coverageAnalysis: 'perTest',
  ignoreStatic: true,
  dryRunTimeoutMinutes: 60,
  // A machine that has other work to do must not end what would have told.
  timeoutMS: 20_000,
  thresholds: { high: 99, low: 98, break: 97 },
  reporters: ['clear-text', 'html', 'json', 'progress-append-only'],
  clearTextReporter: { allowEmojis: false, logTests: false, reportTests: false, skipFull: true },
  htmlReporter: { fileName: '.stryker/report.html' },
  jsonReporter: { fileName: '.stryker/report.json' },
}
