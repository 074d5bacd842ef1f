import { parseArgs } from 'node:util'
import { isResourceId } from '../rights/resource-id.ts'
import { EVERY_TENANT, isTenantName } from '../tenants/tenant-name.ts'
import { UsageError } from './command.ts'
import { checkGivenOnce } from './given-once.ts'

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
