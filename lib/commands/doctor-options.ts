import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { UsageError } from './command.ts'
import { checkGivenOnce } from './given-once.ts'

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
