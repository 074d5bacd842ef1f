import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readPolicyOptions } from '../../lib/commands/policy-command.ts'

const NONE = {
  check: undefined,
  write: undefined,
  format: undefined,
  applications: undefined,
  timeout: 60,
}
const NODE = ['--', 'node', 'app.js']

test('the options stand before `--`, and the program with its own behind it', () => {
  assert.deepEqual(readPolicyOptions(['--', 'node', 'app.js', '--check', 'x', '--', 'y']), {
    ...NONE,
    program: ['node', 'app.js', '--check', 'x', '--', 'y'],
  })
  assert.deepEqual(
    readPolicyOptions([
      ...['--check', 'policy.json', '--format', 'markdown', '--timeout=2.5', '--applications=2'],
      ...NODE,
    ]),
    {
      check: 'policy.json',
      write: undefined,
      format: 'markdown',
      applications: 2,
      timeout: 2.5,
      program: ['node', 'app.js'],
    },
  )
})

for (const args of [['--json'], ['--format', 'json'], ['--json', '--format', 'json']]) {
  test(`${args.join(' ')} asks for JSON`, () => {
    assert.equal(readPolicyOptions([...args, ...NODE]).format, 'json')
  })
}

const WRONG: readonly [args: string[], message: RegExp][] = [
  [[], /^the application is missing: name it behind '--', as in '-- node app\.js'$/],
  [['--'], /^the application is missing/],
  [['--', ''], /^the application is missing/],
  [['node', 'app.js'], /Unexpected argument 'node'/],
  [['--chekc', 'x', ...NODE], /Unknown option '--chekc'/],
  [['--check', ...NODE], /--check/],
  [['--check', 'x', '--write', 'y', ...NODE], /^--check and --write exclude each other$/],
  [['--check', 'x', '--check', 'x', ...NODE], /^--check is given twice$/],
  [['--write', 'x', '--write=y', ...NODE], /^--write is given twice$/],
  [['--format', 'json', '--format', 'markdown', ...NODE], /^--format is given twice$/],
  [['--timeout', '1', '--timeout', '2', ...NODE], /^--timeout is given twice$/],
  [['--check=', ...NODE], /^the name of the file is empty$/],
  [['--write=', ...NODE], /^the name of the file is empty$/],
  [['--format', 'yaml', ...NODE], /^--format is one of table, json, markdown, not "yaml"$/],
  [['--json', '--format', 'table', ...NODE], /^--json contradicts --format table$/],
  [['--applications', '0', ...NODE], /^--applications is a number from 1 to 999, not "0"$/],
  [['--applications', '1.5', ...NODE], /^--applications is a number from 1 to 999, not "1\.5"$/],
  [['--applications', '1000', ...NODE], /^--applications is a number from 1 to 999/],
  [['--timeout', '0', ...NODE], /^--timeout is a number of seconds up to 2147483, not "0"$/],
  [['--timeout', '2147484', ...NODE], /^--timeout is a number/],
  [['--timeout', 'soon', ...NODE], /^--timeout is a number of seconds up to 2147483, not "soon"$/],
]

for (const [args, message] of WRONG) {
  test(`wrong: policy ${args.join(' ')}`, () => {
    assert.throws(() => readPolicyOptions(args), { message })
  })
}
