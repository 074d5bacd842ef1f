import { parseArgs } from 'node:util'
import { isResourceId } from '../../identity/authorization/resources.ts'
import { EVERY_TENANT, isTenantName } from '../../identity/tenants/tenant-name.ts'
import { errorCode } from '../../platform/runtime/error.ts'
import { type StandingAuthority, startAuthority } from '../testing/local-authority.ts'
import {
  type Command,
  CommandFailure,
  checkGivenOnce,
  type ExitCode,
  type Shell,
  UsageError,
} from './command.ts'

const HELP = `Usage: fastify-tenant-auth authority [options]

A test authority on this machine, until Ctrl-C. It signs tokens for everybody
who is named, and publishes its keys where an application without any options
looks for them.

Options:
  --user NAME       print a token of this user: one line of the standard output,
                    and nothing else there; repeat it for further users
  --resources TENANT=ID,ID
                    what the user before it holds, such as
                    lazy-raccoon=menu:read; repeat it for further tenants
  --audience NAME   the audience of the tokens (api)
  --port PORT       the port of localhost (8081)
  --help            this text

The keys are new each time, so that tokens of another run are refused.

Exit codes: 0 ended by a signal; 1 the port cannot be had, or NODE_ENV
is production; 2 a wrong command line.
`

/** Seconds; over a working day. */
const EXPIRES_IN = 12 * 60 * 60

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/** Runs a test authority in the foreground. */
export const authorityCommand: Command = {
  name: 'authority',
  summary: 'run a test authority on this machine, and print tokens of its users',
  help: HELP,
  run: runAuthority,
}

async function runAuthority(args: readonly string[], shell: Shell): Promise<ExitCode> {
  const options = readAuthorityOptions(args)
  if (shell.env['NODE_ENV'] === 'production') {
    throw new CommandFailure(
      'it does not run where NODE_ENV is production: it signs what anybody asks for',
    )
  }
  const authority = await started(options)
  const ended = signalled(shell)
  try {
    shell.stderr.write(introduction(authority, options))
    for (const { name, resources } of options.users) {
      const user = { sub: name, preferred_username: name, resources }
      shell.stdout.write(`${await authority.token(user, { expiresIn: EXPIRES_IN })}\n`)
    }
    await ended
  } finally {
    await authority.close()
  }
  return 0
}

async function started({ port, audience }: AuthorityOptions): Promise<StandingAuthority> {
  try {
    return await startAuthority(port, audience)
  } catch (error) {
    throw new CommandFailure(
      `port ${port} of localhost cannot be had (${errorCode(error)}); end what listens there, or choose another --port. Another authority has other keys: only its own run can print its tokens`,
    )
  }
}

function introduction(
  { issuer, audience, keysUrl }: StandingAuthority,
  { users }: AuthorityOptions,
): string {
  const tokens = users.map(({ name }) => JSON.stringify(name)).join(', ')
  return `The test authority listens at ${issuer}, for this machine only. Ctrl-C ends it.
Its keys are at ${keysUrl}
An application trusts it by these lines of its INI file:

  [auth]
  issuer = ${issuer}
  audience = ${audience}

${users.length === 0 ? 'For a token: --user NAME --resources TENANT=ID,ID' : `Tokens, good for 12 hours, of ${tokens}:`}
`
}

/** Resolves at the first signal that asks for the end. */
function signalled(shell: Shell): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      for (const signal of SIGNALS) shell.off(signal, end)
      resolve()
    }
    for (const signal of SIGNALS) shell.on(signal, end)
  })
}

/** A user who gets a token. */
export interface NamedUser {
  readonly name: string
  /** Resource ids by tenant. */
  readonly resources: Readonly<Record<string, readonly string[]>>
}

export interface AuthorityOptions {
  readonly port: number
  readonly audience: string
  readonly users: readonly NamedUser[]
}

/** As in the default of the option `publicKeysUrl`. */
const DEFAULT_PORT = 8081

const HIGHEST_PORT = 65_535

const EXAMPLE = 'lazy-raccoon=menu:read,menu:write'

/** @throws UsageError, and an error of `parseArgs` */
export function readAuthorityOptions(args: readonly string[]): AuthorityOptions {
  const { values, tokens } = parseArgs({
    args: [...args],
    tokens: true,
    options: {
      port: { type: 'string' },
      audience: { type: 'string' },
      user: { type: 'string', multiple: true },
      resources: { type: 'string', multiple: true },
    },
  })
  checkGivenOnce(tokens, ['user', 'resources'])
  if (values.audience === '') throw new UsageError('the audience is empty')
  const users: { name: string; resources: Map<string, string[]> }[] = []
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    if (token.name === 'user') users.push({ name: nameOf(token.value), resources: new Map() })
    if (token.name === 'resources') grant(users.at(-1)?.resources, String(token.value))
  }
  return {
    port: portOf(values.port),
    audience: values.audience ?? 'api',
    users: users.map(({ name, resources }) => ({ name, resources: Object.fromEntries(resources) })),
  }
}

function nameOf(value: string | undefined): string {
  if (value) return value
  throw new UsageError('the name of the user is empty')
}

/** Adds to what a user holds. */
function grant(resources: Map<string, string[]> | undefined, text: string): void {
  if (resources === undefined) {
    throw new UsageError('--resources stands behind the --user who holds them')
  }
  const [tenant = '', ids, ...more] = text.split('=')
  const list = ids === undefined || ids === '' ? [] : ids.split(',')
  // Much code would find the own members of each object under such a name.
  const isTenant = tenant === EVERY_TENANT || (isTenantName(tenant) && !(tenant in {}))
  if (!isTenant || ids === undefined || more.length > 0 || !list.every(isResourceId)) {
    throw new UsageError(`--resources is written as ${EXAMPLE}, not ${JSON.stringify(text)}`)
  }
  resources.set(tenant, [...(resources.get(tenant) ?? []), ...list])
}

function portOf(given: string | undefined): number {
  if (given === undefined) return DEFAULT_PORT
  const port = /^\d{1,5}$/.test(given) ? Number(given) : Number.NaN
  if (port <= HIGHEST_PORT) return port
  throw new UsageError(
    `--port is a number from 0 (any free one) to ${HIGHEST_PORT}, not ${JSON.stringify(given)}`,
  )
}
