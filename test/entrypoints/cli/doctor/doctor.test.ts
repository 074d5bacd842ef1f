import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { UsageError } from '../../../../lib/entrypoints/cli/command.ts'
import { readDoctorOptions, readGivenToken } from '../../../../lib/entrypoints/cli/doctor/doctor.ts'

test('the file and the options are read in any order', () => {
  const options = { file: 'app.ini', token: '-', isJson: true }
  assert.deepEqual(readDoctorOptions(['app.ini', '--token', '-', '--json']), options)
  assert.deepEqual(readDoctorOptions(['--json', '--token=-', 'app.ini']), options)
  const none = { file: 'app.ini', token: undefined, isJson: false }
  assert.deepEqual(readDoctorOptions(['app.ini']), none)
})

const WRONG: readonly [args: string[], message: RegExp][] = [
  [[], /^the INI file is missing, as in 'doctor app\.ini'$/],
  [[''], /^the INI file is missing/],
  [['a.ini', 'b.ini'], /^one INI file at a time$/],
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
  assert.equal(await readGivenToken(undefined, silent), undefined)
  assert.equal(await readGivenToken('a.b.c', silent), 'a.b.c')
  assert.equal(await readGivenToken(' bearer  a.b.c\n', silent), 'a.b.c')
  assert.equal(await readGivenToken('Authorization: Bearer a.b.c', silent), 'a.b.c')
  assert.equal(await readGivenToken('-', input('Bearer a', '.b.c\n')), 'a.b.c')
})

for (const given of ['', ' ', '-']) {
  test(`an empty token is a wrong command line: "${given}"`, async () => {
    await assert.rejects(readGivenToken(given, input('\n')), { message: 'the token is empty' })
  })
}
