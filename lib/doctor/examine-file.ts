import { ERR_AUTH_CONFIG_INVALID } from '../errors.ts'
import { type LoadedSettings, loadSettings } from '../settings/load-settings.ts'
import { showPath } from '../settings/shown-value.ts'
import { examineIssuer } from './examine-issuer.ts'
import { examineSettings } from './examine-settings.ts'
import { examineTenants } from './examine-tenants.ts'
import { examineToken } from './examine-token.ts'
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
