import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { TokenRefused } from '../tokens/token-refused.ts'
import { readUserInfo, type UserInfo } from '../tokens/user-info.ts'
import type { Problems } from './problems.ts'
import { showReason } from './shown-value.ts'

/** Who acts in dev mode where no file says otherwise. */
const BUILT_IN = {
  sub: 'dev',
  preferred_username: 'dev',
  resources: { default: [], 'test-tenant': [] },
}

/**
 * The mock user of dev mode; null where there is a problem.
 *
 * @param isConfigured whether somebody named the file, which must exist then
 */
export function loadMockUser(
  path: string,
  isConfigured: boolean,
  problems: Problems,
): UserInfo | null {
  const file = resolve(path)
  let text = ''
  try {
    text = readFileSync(file, 'utf8')
    return readUserInfo(JSON.parse(text))
  } catch (error) {
    if (isAbsent(error) && !isConfigured) return readUserInfo(structuredClone(BUILT_IN))
    const expected = 'a JSON file with user info: sub, preferred_username, resources'
    problems.add({ key: 'devUserInfoPath', where: file }, expected, whatIsWrong(error, text))
    return null
  }
}

function isAbsent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

/** Without anything that stands in the file. */
function whatIsWrong(error: unknown, text: string): string {
  if (isAbsent(error)) return 'none'
  if (error instanceof TokenRefused)
    return `user info that cannot be used: ${showReason(error.reason)}`
  if (!(error instanceof SyntaxError)) return 'one that cannot be read'
  const position = / at position (\d+)(?: \(line \d+ column \d+\))?$/.exec(error.message)?.[1]
  if (position === undefined) return 'text that is no JSON'
  return `no JSON from line ${text.slice(0, Number(position)).split('\n').length} on`
}
