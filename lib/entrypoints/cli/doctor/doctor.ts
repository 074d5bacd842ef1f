import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { visible } from '../../../config/redact.ts'
import {
  type Command,
  checkGivenOnce,
  type ExitCode,
  type Paint,
  painting,
  type Shell,
  UsageError,
} from '../command.ts'
import { examineFile } from './examine-file.ts'
import type { Finding, Level } from './finding.ts'

const HELP = `Usage: fastify-tenant-auth doctor [options] app.ini

Reads the INI file as the boot does, asks the servers that it names for their
metadata, keys and tenants, and says what is wrong, and how to mend it. Options
that the application gives in code are not known here.

Options:
  --token TOKEN     look at this token too: would it be accepted, and if not,
                    why? It is sent nowhere. '-' reads it from the standard
                    input, where no other user of the machine sees it
  --json            { "findings": [{ "level", "what", "cure" }] }
  --help            this text

A level is ok, warning (it works, and is seldom meant) or wrong.

Exit codes: 0 nothing is wrong; 1 something is; 2 a wrong command line.
`

const COLOURS = { ok: 'green', warning: 'yellow', wrong: 'red' } as const

/** Says what is wrong with a configuration, and how to mend it. */
export const doctorCommand: Command = {
  name: 'doctor',
  summary: 'say what is wrong with an INI file and its servers, and the cure',
  help: HELP,
  run: runDoctor,
}

async function runDoctor(args: readonly string[], shell: Shell): Promise<ExitCode> {
  const { file, token, isJson } = readDoctorOptions(args)
  const findings = await examineFile(file, await readGivenToken(token, () => process.stdin))
  shell.stdout.write(
    isJson
      ? `${JSON.stringify({ findings }, null, 2)}\n`
      : told(findings, painting(shell.stdout, shell.env)),
  )
  const count = (level: Level) => findings.filter((each) => each.level === level).length
  const wrong = count('wrong')
  shell.stderr.write(`${visible(file)}: wrong ${wrong}, warnings ${count('warning')}\n`)
  return wrong > 0 ? 1 : 0
}

/** One line for each. */
function told(findings: readonly Finding[], paint: Paint): string {
  return findings
    .map(({ level, what, cure }) => {
      const mark = paint(COLOURS[level], level.padEnd('warning'.length))
      return `${mark}  ${what}${cure === undefined ? '' : `; ${cure}`}\n`
    })
    .join('')
}

export interface DoctorOptions {
  readonly file: string
  /** `-`: the standard input. */
  readonly token: string | undefined
  readonly isJson: boolean
}

/** @throws UsageError, and an error of `parseArgs` */
export function readDoctorOptions(args: readonly string[]): DoctorOptions {
  const { values, positionals, tokens } = parseArgs({
    tokens: true,
    args: [...args],
    allowPositionals: true,
    options: { token: { type: 'string' }, json: { type: 'boolean' } },
  })
  checkGivenOnce(tokens)
  const [file, ...more] = positionals
  if (!file) throw new UsageError("the INI file is missing, as in 'doctor app.ini'")
  if (more.length > 0) throw new UsageError('one INI file at a time')
  return { file, token: values.token, isJson: values.json === true }
}

/**
 * The token alone, without the name of its scheme and the space around it, as it is copied.
 *
 * @throws UsageError where there is none
 */
export async function readGivenToken(
  given: string | undefined,
  input: () => AsyncIterable<Buffer | string>,
): Promise<string | undefined> {
  if (given === undefined) return undefined
  const written = given === '-' ? await text(input()) : given
  const token = written.trim().replace(/^(?:authorization:\s*)?bearer\s+/i, '')
  if (token !== '') return token
  throw new UsageError('the token is empty')
}
