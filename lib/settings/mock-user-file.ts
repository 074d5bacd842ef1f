import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { ERR_AUTH_CONFIG_INVALID } from '../errors.ts'
import { readUserInfo, type UserInfo } from '../identity/user-info.ts'

/** Who acts in dev mode where no file says otherwise. */
const BUILT_IN = {
  sub: 'dev',
  preferred_username: 'dev',
  resources: { default: [], 'test-tenant': [] },
}

/**
 * The mock user of dev mode.
 *
 * @param isConfigured whether somebody named the file, which must exist then
 * @throws ERR_AUTH_CONFIG_INVALID
 */
export function loadMockUser(path: string, isConfigured: boolean): UserInfo {
  const file = resolve(path)
  const text = readIfThere(file)
  if (text === null && !isConfigured) return readUserInfo(structuredClone(BUILT_IN))
  if (text === null) throw invalid(file, 'found none')
  try {
    return readUserInfo(JSON.parse(text))
  } catch {
    throw invalid(file, 'found another one')
  }
}

function readIfThere(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw invalid(file, 'found one that cannot be read')
  }
}

function invalid(file: string, found: string) {
  const expected = 'a JSON file with user info: sub, preferred_username, resources'
  return new ERR_AUTH_CONFIG_INVALID(`devUserInfoPath: expected ${expected}, ${found} (${file})`)
}
