import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { loadSettings } from '../../../../lib/config/load-settings.ts'
import type { AuthOptions } from '../../../../lib/config/options.ts'
import { UsageError } from '../../../../lib/entrypoints/cli/command.ts'
import {
  examineLoaded,
  examineSettings,
  readDoctorOptions,
  readToken,
} from '../../../../lib/entrypoints/cli/doctor/doctor.ts'

test('the file and the options are read in any order', () => {
  const file = { name: 'app.ini', options: { configFile: 'app.ini' } }
  const options = { ...file, token: '-', isJson: true }
  assert.deepEqual(readDoctorOptions(['app.ini', '--token', '-', '--json']), options)
  assert.deepEqual(readDoctorOptions(['--json', '--token=-', 'app.ini']), options)
  const none = { ...file, token: undefined, isJson: false }
  assert.deepEqual(readDoctorOptions(['app.ini']), none)
})

test('what the code has is read from options, only those that are given', () => {
  const [issuer, audience, publicKeysUrl] = ['https://a.test', 'api', 'https://a.test/keys']
  const all = ['--issuer', issuer, '--audience', audience, '--public-keys-url', publicKeysUrl]
  assert.deepEqual(readDoctorOptions(all).options, { issuer, audience, publicKeysUrl })
  const { name, options } = readDoctorOptions(['--json', `--issuer=${issuer}`])
  assert.equal(name, 'the options')
  assert.deepEqual(Object.entries(options), [['issuer', issuer]])
})

const WRONG: readonly [args: string[], message: RegExp][] = [
  [[], /^the INI file is missing, as in 'doctor app\.ini' or 'doctor --issuer /],
  [[''], /^the INI file is missing/],
  [['a.ini', 'b.ini'], /^one INI file at a time$/],
  [['a.ini', '--issuer', 'x'], /^either an INI file or the options of the code$/],
  [['--issuer', 'x', '--issuer', 'y'], /^--issuer is given twice$/],
  [['a.ini', '--token', 'x', '--token', 'y'], /^--token is given twice$/],
]

for (const [args, message] of WRONG) {
  test(`doctor ${args.join(' ')} is a wrong command line`, () => {
    assert.throws(
      () => readDoctorOptions(args),
      (error: unknown) => error instanceof UsageError && message.test(error.message),
    )
  })
}

const input =
  (...pieces: string[]) =>
  () =>
    Readable.from(pieces)
const silent = () => assert.fail('the standard input is not read')

test('a token is taken without its scheme and the space around it', async () => {
  assert.equal(await readToken(undefined, silent), undefined)
  assert.equal(await readToken('a.b.c', silent), 'a.b.c')
  assert.equal(await readToken(' bearer  a.b.c\n', silent), 'a.b.c')
  assert.equal(await readToken('Authorization: Bearer a.b.c', silent), 'a.b.c')
  assert.equal(await readToken('-', input('Bearer a', '.b.c\n')), 'a.b.c')
})

for (const given of ['', ' ', '-']) {
  test(`an empty token is a wrong command line: "${given}"`, async () => {
    await assert.rejects(readToken(given, input('\n')), { message: 'the token is empty' })
  })
}

test('two tokens are a wrong command line', async () => {
  const message = 'more than one line: give one token'
  for (const text of ['a.b.c\nd.e.f\n', 'Bearer a.b.c\r\nBearer d.e.f']) {
    await assert.rejects(readToken('-', input(text)), { message })
  }
})

test('an input without an end is a wrong command line', async () => {
  const endless = async function* () {
    for (;;) yield Buffer.alloc(65_536, 'a')
  }
  const message = 'the token is longer than 1 MiB'
  await assert.rejects(readToken('-', endless), { message })
})

test('issuers that a function knows cannot be asked', async () => {
  const loaded = loadSettings({ issuers: () => null, audience: 'api' })
  assert.deepEqual(await examineLoaded(loaded), [])
})

const publicKeysUrl = 'http://a.test/keys'

/** Options that together cause every warning. */
const WARNED: readonly AuthOptions[] = [
  {},
  { devMode: true },
  { superuserResource: 'a:b' },
  { publicKeysUrl, tenants: 'http://a.test/', confirmation: 'ignore' },
]

for (const options of WARNED) {
  test(`each warning of ${JSON.stringify(options)} has a cure`, () => {
    const findings = examineSettings(loadSettings(options))
    assert.notEqual(findings.length, 0)
    for (const { level, what, cure } of findings) {
      assert.equal(level, 'warning')
      assert.notEqual(cure, 'see the option in .github/docs/reference/options.md', what)
    }
  })
}
