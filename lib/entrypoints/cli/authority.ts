import { parseArgs } from 'node:util'
import { isProduction } from '../../config/load-settings.ts'
import { isResourceId } from '../../identity/authorization/resources.ts'
import { EVERY_TENANT, isTenantName } from '../../identity/tenants/tenant-name.ts'
import { errorCode } from '../../platform/runtime/error.ts'
import { startAuthority } from '../testing/test-authority.ts'
import { type Command, CommandFailure, readNumber, rejectRepeats, UsageError } from './command.ts'

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
  --claim NAME=TEXT a further claim of the user before it, such as typ=Bearer
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

export const authorityCommand: Command = {
  name: 'authority',
  summary: 'run a test authority on this machine, and print tokens of its users',
  help: HELP,
  async run(args, shell) {
    const options = readAuthorityOptions(args)
    if (isProduction(shell.env)) {
      throw new CommandFailure(
        'it does not run where NODE_ENV is production: it signs what anybody asks for',
      )
    }
    const { port, audience } = options
    const authority = await startAuthority(port, audience).catch((error: unknown) => {
      throw new CommandFailure(
        `port ${port} of localhost cannot be had (${errorCode(error)}); end what listens there, or choose another --port. Another authority has other keys: only its own run can print its tokens`,
      )
    })
    let end = (): void => {}
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    for (const signal of SIGNALS) shell.on(signal, end)
    try {
      shell.stderr.write(introduction(authority, options))
      for (const { name, resources, claims } of options.users) {
        const user = { sub: name, preferred_username: name, resources, ...claims }
        shell.stdout.write(`${await authority.token(user, { expiresIn: EXPIRES_IN })}\n`)
      }
      await ended
    } finally {
      for (const signal of SIGNALS) shell.off(signal, end)
      await authority.close()
    }
    return 0
  },
}

function introduction(
  { issuer, audience, keysUrl }: Awaited<ReturnType<typeof startAuthority>>,
  { users }: ReturnType<typeof readAuthorityOptions>,
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

/** The port in the default of the option `publicKeysUrl`. */
const DEFAULT_PORT = 8081

const PORT = '--port is a number from 0 (any free one) to 65535'

export function readAuthorityOptions(args: readonly string[]) {
  const { values, tokens } = parseArgs({
    args: [...args],
    tokens: true,
    options: {
      port: { type: 'string' },
      audience: { type: 'string' },
      user: { type: 'string', multiple: true },
      resources: { type: 'string', multiple: true },
      claim: { type: 'string', multiple: true },
    },
  })
  rejectRepeats(tokens, ['user', 'resources', 'claim'])
  if (values.audience === '') throw new UsageError('the audience is empty')
  const users: { name: string; resources: Map<string, string[]>; claims: Map<string, string> }[] =
    []
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const value = String(token.value)
    if (token.name === 'resources') grant(users.at(-1)?.resources, value)
    if (token.name === 'claim') addClaim(users.at(-1)?.claims, value)
    if (token.name !== 'user') continue
    if (value === '') throw new UsageError('the name of the user is empty')
    users.push({ name: value, resources: new Map(), claims: new Map() })
  }
  return {
    port: readNumber(values.port, PORT, /^\d{1,5}$/, 65_535) ?? DEFAULT_PORT,
    audience: values.audience ?? 'api',
    users: users.map(({ name, resources, claims }) => ({
      name,
      resources: Object.fromEntries(resources),
      claims: Object.fromEntries(claims),
    })),
  }
}

function addClaim(claims: Map<string, string> | undefined, text: string): void {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? []
  if (claims === undefined || name === undefined || value === undefined) {
    throw new UsageError('--claim NAME=TEXT stands behind the --user whose claim it is')
  }
  claims.set(name, value)
}

function grant(resources: Map<string, string[]> | undefined, text: string): void {
  if (resources === undefined) {
    throw new UsageError('--resources stands behind the --user who holds them')
  }
  const [tenant = '', ids, ...more] = text.split('=')
  const list = ids ? ids.split(',') : []
  // Much code would find the own members of each object under such a name.
  const isTenant = tenant === EVERY_TENANT || (isTenantName(tenant) && !(tenant in {}))
  if (!isTenant || ids === undefined || more.length > 0 || !list.every(isResourceId)) {
    const example = 'lazy-raccoon=menu:read,menu:write'
    throw new UsageError(`--resources is written as ${example}, not ${JSON.stringify(text)}`)
  }
  resources.set(tenant, [...(resources.get(tenant) ?? []), ...list])
}
