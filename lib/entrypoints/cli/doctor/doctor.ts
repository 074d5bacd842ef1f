import { parseArgs } from 'node:util'
import { bootWarnings } from '../../../config/boot-warnings.ts'
import { INI_KEYS } from '../../../config/ini-values.ts'
import { type LoadedSettings, loadSettings } from '../../../config/load-settings.ts'
import type { AuthOptions, Settings } from '../../../config/options.ts'
import { showPath, visible } from '../../../config/redact.ts'
import { ERR_AUTH_CONFIG_INVALID } from '../../../errors.ts'
import { MAX_LIST_BYTES, readTenantList } from '../../../identity/tenants/remote-tenants.ts'
import { fetchText } from '../../../platform/http/fetch-json.ts'
import { redactUrl } from '../../../platform/http/urls.ts'
import { type Command, type Paint, painter, rejectRepeats, UsageError } from '../command.ts'
import { examineIssuer } from './examine-issuer.ts'
import { examineToken } from './examine-token.ts'
import { Exchange, fetchFinding } from './fetch-advice.ts'
import { doubtful, type Finding, fine, type Level, wrong } from './finding.ts'

const HELP = `Usage: fastify-tenant-auth doctor [options] app.ini
       fastify-tenant-auth doctor [options] --issuer ISSUER --audience AUDIENCE

Reads the INI file as the boot does, asks the servers that it names for their
metadata, keys and tenants, and says what is wrong, and how to mend it. What
the application gives in code is not known here: give it as options.

Options:
  --issuer ISSUER          in place of a file: the issuer, as the code has it
  --audience AUDIENCE      the same for the audience
  --public-keys-url URL    the same for publicKeysUrl
  --token TOKEN     look at this token too: would it be accepted, and if not,
                    why? It is sent nowhere. '-' reads it from the standard
                    input, where no other user of the machine sees it
  --json            { "findings": [{ "level", "what", "cure" }] }
  --help            this text

A level is ok, warning (it works, and is seldom meant) or wrong.

Exit codes: 0 nothing is wrong; 1 something is; 2 a wrong command line.
`

const COLOURS = { ok: 'green', warning: 'yellow', wrong: 'red' } as const

export const doctorCommand: Command = {
  name: 'doctor',
  summary: 'say what is wrong with an INI file and its servers, and the cure',
  help: HELP,
  async run(args, shell) {
    const { name, options, token, isJson } = readDoctorOptions(args)
    const given = await readToken(token, () => process.stdin)
    const findings = await examineOptions(name, options, given)
    shell.stdout.write(
      isJson
        ? `${JSON.stringify({ findings }, null, 2)}\n`
        : formatFindings(findings, painter(shell.stdout, shell.env)),
    )
    const count = (level: Level) => findings.filter((each) => each.level === level).length
    const problems = count('wrong')
    shell.stderr.write(`${visible(name)}: wrong ${problems}, warnings ${count('warning')}\n`)
    return problems > 0 ? 1 : 0
  },
}

function formatFindings(findings: readonly Finding[], paint: Paint): string {
  return findings
    .map(({ level, what, cure }) => {
      const mark = paint(COLOURS[level], level.padEnd('warning'.length))
      return `${mark}  ${what}${cure === undefined ? '' : `; ${cure}`}\n`
    })
    .join('')
}

export function readDoctorOptions(args: readonly string[]) {
  const { values, positionals, tokens } = parseArgs({
    tokens: true,
    args: [...args],
    allowPositionals: true,
    options: {
      issuer: { type: 'string' },
      audience: { type: 'string' },
      'public-keys-url': { type: 'string' },
      token: { type: 'string' },
      json: { type: 'boolean' },
    },
  })
  rejectRepeats(tokens)
  const { issuer, audience, 'public-keys-url': publicKeysUrl, token, json } = values
  const inCode = {
    ...(issuer !== undefined && { issuer }),
    ...(audience !== undefined && { audience }),
    ...(publicKeysUrl !== undefined && { publicKeysUrl }),
  }
  return { ...whatToExamine(positionals, inCode), token, isJson: json === true }
}

/** @throws UsageError unless there is one INI file, or options of the code in its place */
function whatToExamine([file, ...more]: readonly string[], inCode: AuthOptions) {
  const hasOptions = Object.keys(inCode).length > 0
  if (more.length > 0) throw new UsageError('one INI file at a time')
  if (file && hasOptions) throw new UsageError('either an INI file or the options of the code')
  if (file) return { name: file, options: { configFile: file } }
  if (hasOptions) return { name: 'the options', options: inCode }
  const examples = "as in 'doctor app.ini' or 'doctor --issuer https://login.example.com'"
  throw new UsageError(`the INI file is missing, ${examples}`)
}

/**
 * The token alone, without the name of its scheme and the space around it, as it is copied.
 *
 * @param given `-`: the token is read from the input
 * @throws UsageError if it is empty, too long, or has several lines
 */
export async function readToken(
  given: string | undefined,
  input: () => AsyncIterable<Buffer | string>,
): Promise<string | undefined> {
  if (given === undefined) return undefined
  const copied = given === '-' ? await readInput(input()) : given
  const token = copied.trim().replace(/^(?:authorization:\s*)?(?:bearer|dpop)\s+/i, '')
  if (token === '') throw new UsageError('the token is empty')
  if (/[\r\n]/.test(token)) throw new UsageError('more than one line: give one token')
  return token
}

/** Characters. Another file that is piped in by mistake may be endless. */
const LONGEST_INPUT = 1024 * 1024

async function readInput(input: AsyncIterable<Buffer | string>): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const piece of input) {
    text += typeof piece === 'string' ? piece : decoder.decode(piece, { stream: true })
    if (text.length > LONGEST_INPUT) throw new UsageError('the token is longer than 1 MiB')
  }
  return text + decoder.decode()
}

async function examineOptions(
  name: string,
  options: AuthOptions,
  token?: string,
): Promise<readonly Finding[]> {
  let loaded: LoadedSettings
  try {
    loaded = loadSettings(options)
  } catch (error) {
    if (!(error instanceof ERR_AUTH_CONFIG_INVALID)) throw error
    return error.message.split('\n').map((problem) => wrong(problem, UNBOOTED))
  }
  const findings = await examineLoaded(loaded, token)
  if ('configFile' in options) return [fine(`${showPath(name)} can be used`), ...findings]
  return [fine(`${name} can be used`), ...findings.map(namedAsInCode)]
}

/** The finding with the names of options in code, in place of the keys of an INI file. */
function namedAsInCode({ cure, ...finding }: Finding): Finding {
  if (cure === undefined) return finding
  const named = cure.replace(/\b[a-z]+(?:_[a-z]+)+\b/g, (word) => INI_KEYS.auth.get(word) ?? word)
  return { ...finding, cure: named }
}

/**
 * All that can be found out about a configuration from the machine that will use it.
 *
 * @param token a token that should be accepted; it is sent nowhere
 */
export async function examineLoaded(
  loaded: LoadedSettings,
  token?: string,
): Promise<readonly Finding[]> {
  const { settings, issuers, addresses } = loaded
  const warnings = examineSettings(loaded)
  if (settings.devMode) {
    const unread = doubtful('token: dev mode reads none', 'take dev_mode away to look at it')
    return token === undefined ? warnings : [...warnings, unread]
  }
  const listed = typeof issuers === 'function' ? [] : issuers
  const [tenants, ...examined] = await Promise.all([
    examineTenants(settings),
    ...listed.map(async (entry) => ({ entry, ...(await examineIssuer(entry, settings)) })),
  ])
  return [
    ...warnings,
    ...examined.flatMap(({ findings }) => findings),
    ...tenants,
    ...(token === undefined ? [] : examineToken(token, examined, settings, addresses)),
  ]
}

const UNBOOTED = 'the application does not boot before that is mended'

const CURES: readonly (readonly [start: string, cure: string])[] = [
  ['dev mode', 'take dev_mode away for production; then keys and tokens are looked at too'],
  ['superuserResource', 'say which tenants exist: [tenants] ids or tenant_url'],
  ['publicKeysUrl is not', 'give issuer, whose keys are then discovered, or public_keys_url'],
  ['publicKeysUrl of', 'use https there'],
  ['tenants is plain http', 'use https in tenant_url'],
  ['issuer', 'give issuer, exactly as the tokens name it'],
  ['audience', 'give audience: the name of this API at the server'],
  ['proofSeen', 'give redisProofs in code, if there are several processes'],
  ['confirmation', 'take confirmation away, unless such a gateway stands in front'],
]

export function examineSettings(loaded: LoadedSettings): Finding[] {
  return bootWarnings(loaded).map((warning) => {
    const [, cure = 'see the option in .github/docs/reference/options.md'] =
      CURES.find(([start]) => warning.startsWith(start)) ?? []
    return doubtful(warning, cure)
  })
}

async function examineTenants({ tenants, tenantsTimeout }: Settings): Promise<Finding[]> {
  if (typeof tenants !== 'string') return []
  const exchange = new Exchange(MAX_LIST_BYTES, tenantsTimeout)
  const source = { what: 'tenants', url: tenants, setting: 'tenant_url', limit: 'tenants_timeout' }
  try {
    const { size } = readTenantList(await fetchText(tenants, exchange.limits))
    const where = `tenants at ${redactUrl(tenants)}`
    if (size > 0) return [fine(`${where}: names of ${size}`)]
    return [doubtful(`${where}: the list is empty`, 'until it has names, every tenant is unknown')]
  } catch (error) {
    return [fetchFinding(source, error, exchange)]
  }
}
