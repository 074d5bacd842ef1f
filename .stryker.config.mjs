import { readdirSync } from 'node:fs'

/** Tests of a room run before those of the rooms that build on it: the nearest one tells first. */
const ROOMS_OF_TESTS = [
  'platform',
  'identity/jwks',
  'identity/jwt',
  'identity/tenants',
  'identity/authorization',
  'identity/authentication',
  'routes',
  'guard',
  'behaviour',
]

const testFiles = ROOMS_OF_TESTS.flatMap((room) =>
  readdirSync(`test/${room}`, { recursive: true })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => `.compiled/test/${room}/${name.replace(/ts$/, 'js')}`),
)

/** Only what is compiled has the mutants. Tests that read the sources read them as they are. */
const COMPILE_AND_RESTORE = 'npm run compile && cp -R ../../../lib .'

/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
  mutate: ['lib/{guard,routes,identity,platform}/**/*.ts'],
  tempDirName: '.stryker/sandboxes',
  ignorePatterns: ['/.compiled', '/.stryker', '/coverage', '/dist', '/docs'],
  disableTypeChecks: false,
  buildCommand: `sh -c ${COMPILE_AND_RESTORE.replaceAll(' ', '\\ ')}`,
  testRunner: 'tap',
  tap: { testFiles },
  coverageAnalysis: 'perTest',
  ignoreStatic: true,
  dryRunTimeoutMinutes: 60,
  thresholds: { high: 99, low: 98, break: 97 },
  reporters: ['clear-text', 'html', 'json', 'progress-append-only'],
  clearTextReporter: { allowEmojis: false, logTests: false, reportTests: false, skipFull: true },
  htmlReporter: { fileName: '.stryker/report.html' },
  jsonReporter: { fileName: '.stryker/report.json' },
}
