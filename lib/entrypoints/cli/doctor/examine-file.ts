import { bootWarnings } from '../../../config/boot-warnings.ts'
import { type LoadedSettings, loadSettings } from '../../../config/load-settings.ts'
import type { Settings } from '../../../config/options.ts'
import { showPath } from '../../../config/redact.ts'
import { ERR_AUTH_CONFIG_INVALID } from '../../../errors.ts'
import { MAX_LIST_BYTES, readTenantList } from '../../../identity/tenants/remote-tenants.ts'
import { fetchText } from '../../../platform/http/fetch-json.ts'
import { redactUrl } from '../../../platform/http/urls.ts'
import { examineIssuer } from './examine-issuer.ts'
import { examineToken } from './examine-token.ts'
import { Exchange, fetchFinding } from './fetch-advice.ts'
import { doubtful, type Finding, fine, wrong } from './finding.ts'

/**
 * All that can be found out about a configuration from where it will be used.
 *
 * @param file the INI file, read as the boot does
 * @param token a token that should be accepted; it is sent nowhere
 */
export async function examineFile(file: string, token?: string): Promise<readonly Finding[]> {
  let loaded: LoadedSettings
  try {
    loaded = loadSettings({ configFile: file })
  } catch (error) {
    return problemsIn(error).map((problem) => wrong(problem, UNBOOTED))
  }
  return [fine(`${showPath(file)} can be used`), ...(await examineLoaded(loaded, token))]
}

/** The same of settings that were read. */
export async function examineLoaded(
  loaded: LoadedSettings,
  token?: string,
): Promise<readonly Finding[]> {
  const { settings, issuers } = loaded
  const warnings = examineSettings(loaded)
  if (settings.devMode) return [...warnings, ...(token === undefined ? [] : [UNREAD])]
  const listed = typeof issuers === 'function' ? [] : issuers
  const [tenants, ...examined] = await Promise.all([
    examineTenants(settings),
    ...listed.map(async (entry) => ({ entry, ...(await examineIssuer(entry, settings)) })),
  ])
  return [
    ...warnings,
    ...examined.flatMap(({ findings }) => findings),
    ...tenants,
    ...(token === undefined ? [] : examineToken(token, examined, settings)),
  ]
}

/** @throws what is no error of the configuration */
export function problemsIn(error: unknown): string[] {
  if (error instanceof ERR_AUTH_CONFIG_INVALID) return error.message.split('\n')
  throw error
}

const UNBOOTED = 'the application does not boot before that is mended'

const UNREAD = doubtful('token: dev mode reads none', 'take dev_mode away to look at it')

/** By the beginning of a warning. */
const CURES: readonly (readonly [start: string, cure: string])[] = [
  ['dev mode', 'take dev_mode away for production; then keys and tokens are looked at too'],
  ['superuserResource', 'say which tenants exist: [tenants] ids or tenant_url'],
  ['publicKeysUrl is not', 'give issuer, whose keys are then discovered, or public_keys_url'],
  ['publicKeysUrl of', 'use https there'],
  ['tenants is plain http', 'use https in tenant_url'],
  ['issuer', 'give issuer, exactly as the tokens name it'],
  ['audience', 'give audience: the name of this API at the server'],
  ['confirmation', 'take confirmation away, unless such a gateway stands in front'],
]

/** What the boot would warn of. */
export function examineSettings(loaded: LoadedSettings): Finding[] {
  return bootWarnings(loaded).map((warning) => {
    return doubtful(warning, cureOf(warning))
  })
}

export function cureOf(warning: string): string {
  const [, cure] = CURES.find(([start]) => warning.startsWith(start)) ?? []
  return cure ?? 'see the option in the README'
}

/** The list of tenants, where it has an address. */
async function examineTenants({
  tenants,
  tenantsTimeout,
}: Pick<Settings, 'tenants' | 'tenantsTimeout'>): Promise<Finding[]> {
  if (typeof tenants !== 'string') return []
  const exchange = new Exchange(MAX_LIST_BYTES, tenantsTimeout)
  const fetched = { what: 'tenants', url: tenants, setting: 'tenant_url', limit: 'tenants_timeout' }
  try {
    const { size } = await readTenantList(await fetchText(tenants, exchange.limits))
    const where = `tenants at ${redactUrl(tenants)}`
    if (size > 0) return [fine(`${where}: names of ${size}`)]
    return [doubtful(`${where}: the list is empty`, 'until it has names, every tenant is unknown')]
  } catch (error) {
    return [fetchFinding(fetched, error, exchange)]
  }
}
