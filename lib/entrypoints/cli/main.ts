import { readFileSync } from 'node:fs'
import { nearestName } from '../../config/did-you-mean.ts'
import { visible, visibleLines } from '../../config/redact.ts'
import { errorCode } from '../../platform/runtime/error.ts'
import { authorityCommand } from './authority.ts'
import { type Command, CommandFailure, type ExitCode, type Shell, UsageError } from './command.ts'
import { doctorCommand } from './doctor/doctor.ts'
import { policyCommand } from './policy/policy-command.ts'

const NAME = 'fastify-tenant-auth'

export const COMMANDS: readonly Command[] = [policyCommand, doctorCommand, authorityCommand]

export async function runCommandLine(
  args: readonly string[],
  commands: readonly Command[],
  shell: Shell,
): Promise<ExitCode> {
  const [name = '', ...rest] = args
  const command = commands.find((each) => each.name === name)
  const own = command === undefined ? NAME : `${NAME} ${name}`
  try {
    if (command === undefined) return runWithoutCommand(name, commands, shell)
    if (!asksForHelp(rest)) return await command.run(rest, shell)
    shell.stdout.write(command.help)
    return 0
  } catch (error) {
    if (error instanceof CommandFailure) {
      shell.stderr.write(`${own}: ${visible(error.message)}\n`)
      return 1
    }
    if (!isUsageError(error)) throw error
    shell.stderr.write(`${own}: ${visibleLines(error.message)}\nTry '${own} --help'.\n`)
    return 2
  }
}

function runWithoutCommand(name: string, commands: readonly Command[], shell: Shell): ExitCode {
  if (name === '--version') {
    shell.stdout.write(`${version()}\n`)
    return 0
  }
  if (name === '--help' || name === '-h' || name === '') {
    shell[name === '' ? 'stderr' : 'stdout'].write(help(commands))
    return name === '' ? 2 : 0
  }
  const kind = name.startsWith('-') ? 'option' : 'command'
  const names = commands.map((command) => command.name)
  const nearest = nearestName(name, [...names, '--help', '--version'])
  const hint = nearest === undefined ? '' : `; did you mean ${nearest}?`
  throw new UsageError(`no ${kind} ${JSON.stringify(name)}${hint}`)
}

/** Arguments behind `--` belong to the program that they name. */
function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf('--')
  const own = end === -1 ? args : args.slice(0, end)
  return own.includes('--help') || own.includes('-h')
}

function isUsageError(error: unknown): error is Error {
  return error instanceof UsageError || errorCode(error).startsWith('ERR_PARSE_ARGS_')
}

function help(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length))
  return `Usage: ${NAME} <command> [options]

Commands:
${commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`).join('\n')}

Options:
  --help     this text, or behind a command its own
  --version  the version of the package

Exit codes: 0 all is well, 1 it is not, 2 the command line is wrong.
`
}

function version(): string {
  const manifest = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')
  const { version }: { version: string } = JSON.parse(manifest)
  return version
}
