import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parseArgs } from 'node:util'
import { type Command, CommandFailure, UsageError } from '../../../lib/entrypoints/cli/command.ts'
import { COMMANDS, runCommandLine } from '../../../lib/entrypoints/cli/main.ts'
import { recordedShell } from '../../helpers/processes/recorded-shell.ts'

/** A command that does what its first argument says. */
const probe: Command = {
  name: 'probe',
  summary: 'for this test',
  help: 'the help of probe\n',
  run: async ([first = '', ...rest], { stdout }) => {
    if (first === 'usage') throw new UsageError('that is wrong')
    if (first === 'fail') throw new CommandFailure('that failed')
    if (first === 'defect') throw new TypeError('a defect')
    if (first.startsWith('--')) parseArgs({ args: [first], options: {} })
    stdout.write(`ran with ${[first, ...rest].join(' ')}\n`)
    return 0
  },
}

async function ran(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const shell = recordedShell()
  const code = await runCommandLine(args, [probe], shell)
  return { code, ...shell.printed }
}

const VERSION: string = JSON.parse(readFileSync('package.json', 'utf8')).version
const HELP = /^Usage: fastify-tenant-auth <command> \[options\]\n\nCommands:\n {2}probe {2}for this/

/** Arguments, the exit code, and what is printed. */
const LINES: readonly [args: string[], code: number, out: RegExp, err: RegExp][] = [
  [['--version'], 0, new RegExp(`^${VERSION}\n$`), /^$/],
  [['--help'], 0, HELP, /^$/],
  [['-h'], 0, HELP, /^$/],
  [[], 2, /^$/, HELP],
  [['prob'], 2, /^$/, /^fastify-tenant-auth: no command "prob"; did you mean probe\?\nTry 'fast/],
  [['--verison'], 2, /^$/, /: no option "--verison"; did you mean --version\?\n/],
  [['zebra'], 2, /^$/, /^fastify-tenant-auth: no command "zebra"\n/],
  [['probe', '--help'], 0, /^the help of probe\n$/, /^$/],
  [['probe', 'x', '-h'], 0, /^the help of probe\n$/, /^$/],
  [['probe', 'x', '--', 'node', '--help'], 0, /^ran with x -- node --help\n$/, /^$/],
  [
    ['probe', 'usage'],
    2,
    /^$/,
    /^fastify-tenant-auth probe: that is wrong\nTry 'fastify-tenant-auth probe --help'\.\n$/,
  ],
  [
    ['probe', '--no\u202epe'],
    2,
    /^$/,
    /^fastify-tenant-auth probe: Unknown option '--no\\u202epe'/,
  ],
  [['pro\u202ebe'], 2, /^$/, /^fastify-tenant-auth: no command "pro\\u202ebe"/],
  [['probe', '--nope'], 2, /^$/, /^fastify-tenant-auth probe: Unknown option '--nope'/],
  [['probe', 'fail'], 1, /^$/, /^fastify-tenant-auth probe: that failed\n$/],
]

for (const [args, code, out, err] of LINES) {
  test(`fastify-tenant-auth ${args.join(' ')} ends with ${code}`, async () => {
    const found = await ran(...args)
    assert.equal(found.code, code, found.err)
    assert.match(found.out, out)
    assert.match(found.err, err)
  })
}

test('a defect of a command is no message to its user: it is thrown', async () => {
  await assert.rejects(ran('probe', 'defect'), { name: 'TypeError', message: 'a defect' })
})

test('each help text fits a screen of 24 lines and 80 columns', async () => {
  const shell = recordedShell()
  await runCommandLine(['--help'], COMMANDS, shell)
  const texts = [shell.printed.out, ...COMMANDS.map(({ help }) => help)]
  for (const text of texts) {
    const lines = text.trimEnd().split('\n')
    assert.ok(lines.length < 24, `${lines.length} lines:\n${text}`)
    const wide = lines.filter((line) => line.length > 80)
    assert.deepEqual(wide, [])
  }
  assert.equal(texts.length, 1 + COMMANDS.length)
})
